internal import Bytes
package import System

/// A value of a YAML 1.1 document, with the name that errors call it by. Aliases are replaced by what they name.
package struct YAMLField: Sendable {
    /// Bytes of a text: libyaml compares each anchor with all others.
    static let maximumBytes = 256 << 10

    package enum Content: Sendable {
        /// Plain: without quotes, so that the text decides whether it is a number, a boolean or null.
        case scalar(String, isPlain: Bool)
        case list([YAMLField])
        /// In the document's order; no two keys are the same.
        case mapping([(key: String, value: YAMLField)])
    }

    /// The keys that lead to it, for example `tls_server_config.cipher_suites[2]`; empty for the document.
    package let path: String
    /// Counted from 1.
    package let line: Int
    /// The line of its key in a mapping.
    var keyLine: Int?
    package let content: Content
    /// Keeps the value out of errors.
    package var isSecret = false

    /// The first document of a text in UTF-8 or, with a byte order mark, UTF-16; `nil` when the text has none. Another
    /// document is an error with `isOnly`.
    package static func parse(_ text: [UInt8], isOnly: Bool = false) throws(SystemError) -> YAMLField? {
        guard text.count <= maximumBytes else { throw SystemError(.system, "longer than \(maximumBytes) bytes") }
        var document = try YAMLDocument(text)
        if isOnly, document.hasNext {
            throw SystemError(.system, "something follows the document, expected one without ---")
        }
        return try document.root()
    }

    package func wrong(expected: String) -> SystemError {
        let found =
            switch content {
            case .scalar where isSecret: "<secret>"
            case .scalar(let text, _): quoted(text, limit: 40)
            case .list: "a list"
            case .mapping: "a mapping"
            }
        return .yaml(line: line, "\(path.isEmpty ? "the document" : path) is \(found), expected \(expected)")
    }

    package func unknown(among known: String) -> SystemError {
        .yaml(line: keyLine ?? line, "\(path) is unknown, expected one of \(known)")
    }
}

extension YAMLField? {
    /// The values of a mapping with fixed keys; `nil` and null have none. Throws for the first other key.
    package func members(_ known: [String]) throws(SystemError) -> [String: YAMLField] {
        guard let self, !self.isNull else { return [:] }
        var members: [String: YAMLField] = [:]
        for (key, value) in try self.mapping() {
            guard known.contains(key) else { throw value.unknown(among: known.joined(separator: ", ")) }
            members[key] = value
        }
        return members
    }
}

extension SystemError {
    package static func yaml(line: Int, _ reason: String) -> SystemError {
        SystemError(.system, "line \(line): \(reason)")
    }
}

// MARK: - Values

/// Null is the zero value of every type, and a text is any scalar, as for the programs of Prometheus.
extension YAMLField {
    /// Whether it is null as YAML 1.1 writes it.
    package var isNull: Bool {
        if case .scalar(let text, true) = content { ["", "~", "null", "Null", "NULL"].contains(text) } else { false }
    }

    package func text(expected: String = "a text") throws(SystemError) -> String {
        guard case .scalar(let text, _) = content else { throw wrong(expected: expected) }
        return isNull ? "" : text
    }

    /// The value that a text stands for; `nil` for null.
    package func value<Value>(
        expected: String, _ parse: (String) -> Value?
    ) throws(SystemError) -> Value? {
        if isNull { return nil }
        guard let value = parse(try text(expected: expected)) else { throw wrong(expected: expected) }
        return value
    }

    /// The boolean of a text without quotes, as YAML 1.1 writes it: `yes` is one.
    package func boolean() throws(SystemError) -> Bool {
        if case .scalar(let text, true) = content {
            if ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].contains(text) { return true }
            if isNull || ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].contains(text) {
                return false
            }
        }
        throw wrong(expected: "true or false")
    }

    /// Returns `nil` for null.
    package func list() throws(SystemError) -> [YAMLField]? {
        if case .list(let values) = content { return values }
        guard isNull else { throw wrong(expected: "a list") }
        return nil
    }

    package func mapping(
        expected: String = "a mapping"
    ) throws(SystemError) -> [(key: String, value: YAMLField)] {
        guard case .mapping(let pairs) = content else { throw wrong(expected: expected) }
        return pairs
    }
}
