internal import Bytes
package import System

/// A value of a YAML 1.1 document, with the path that errors name it by. Aliases are resolved.
package struct YAMLField: Sendable {
    /// Maximum size in bytes of a text: libyaml compares each anchor with all others.
    static let maximumBytes = 256 << 10

    package enum Content: Sendable {
        /// Plain means unquoted: the text decides whether the scalar is a number, a boolean or null.
        case scalar(String, isPlain: Bool)
        case list([YAMLField])
        /// In document order, without duplicate keys.
        case mapping([(key: String, value: YAMLField)])
    }

    /// The keys that lead to the value, such as `tls_server_config.cipher_suites[2]`; empty for the document.
    package let path: String
    /// Counted from 1.
    package let line: Int
    var keyLine: Int?
    package let content: Content
    /// Whether errors mask the value.
    package var isSecret = false

    /// Parses the first document of a text in UTF-8 or, with a byte order mark, UTF-16; `nil` if there is none. With
    /// `isOnly`, a second document is an error.
    package static func parse(_ text: [UInt8], isOnly: Bool = false) throws(SystemError) -> YAMLField? {
        guard text.count <= maximumBytes else { throw SystemError(.content, "longer than \(maximumBytes) bytes") }
        var document = try YAMLDocument(text)
        if isOnly, document.hasNext {
            throw SystemError(.content, "there is more than one document, expected one without ---")
        }
        return try document.root()
    }

    package func wrong(expected: String) -> SystemError {
        let found =
            switch content {
            case .scalar where isSecret: "***"
            case .scalar(let text, _): quoted(text, limit: 40)
            case .list: "a list"
            case .mapping: "a mapping"
            }
        return .yaml(line: line, "\(path.isEmpty ? "the document" : path) is \(found), expected \(expected)")
    }

    /// - Parameter advice: what to use instead, in place of the known keys.
    package func unknown(among known: String, advice: String? = nil) -> SystemError {
        .yaml(line: keyLine ?? line, "\(path) is unknown" + (advice.map { ": \($0)" } ?? ", expected one of \(known)"))
    }
}

extension YAMLField? {
    /// Returns the values of a mapping; none for `nil` and null. Throws for the first key not in `known`.
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
        SystemError(.content, "line \(line): \(reason)")
    }
}

// MARK: - Values

/// As in Prometheus programs, null is the zero value of every type, and any scalar is a text.
extension YAMLField {
    /// Whether the value is null in any spelling of YAML 1.1.
    package var isNull: Bool {
        if case .scalar(let text, true) = content { ["", "~", "null", "Null", "NULL"].contains(text) } else { false }
    }

    package func text(expected: String = "a string") throws(SystemError) -> String {
        guard case .scalar(let text, _) = content else { throw wrong(expected: expected) }
        return isNull ? "" : text
    }

    /// Returns the parsed text; `nil` for null.
    package func value<Value>(expected: String, _ parse: (String) -> Value?) throws(SystemError) -> Value? {
        if isNull { return nil }
        guard let value = parse(try text(expected: expected)) else { throw wrong(expected: expected) }
        return value
    }

    /// Returns the boolean of an unquoted scalar in any spelling of YAML 1.1, such as `yes`; `false` for null.
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
    package func list(expected: String = "a list") throws(SystemError) -> [YAMLField]? {
        if case .list(let values) = content { return values }
        guard isNull else { throw wrong(expected: expected) }
        return nil
    }

    package func mapping(expected: String = "a mapping") throws(SystemError) -> [(key: String, value: YAMLField)] {
        guard case .mapping(let pairs) = content else { throw wrong(expected: expected) }
        return pairs
    }
}
