internal import Bytes
internal import CYAML
package import System

/// A value of a YAML 1.1 document, with the name that errors call it by. Aliases are replaced by what they name.
package struct YAMLField: Sendable {
    /// Bytes of a text: libyaml compares each anchor with all others.
    static let maximumBytes = 256 << 10
    static let maximumDepth = 8
    /// Values of a document. They count once more for each alias that names them.
    static let maximumValues = 20_000

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
    package let content: Content
    /// Keeps the value out of errors.
    package var isSecret = false

    /// The first document of a text in UTF-8 or, with a byte order mark, UTF-16; `nil` when the text has none.
    package static func parse(_ text: [UInt8]) throws(SystemError) -> YAMLField? {
        guard text.count <= maximumBytes else { throw SystemError(.configuration, "longer than \(maximumBytes) bytes") }
        var document = try YAMLDocument(text)
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
        .yaml(line: line, "\(path) is unknown, expected one of \(known)")
    }
}

extension SystemError {
    package static func yaml(line: Int, _ reason: String) -> SystemError {
        SystemError(.configuration, "line \(line): \(reason)")
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

    package func mapping() throws(SystemError) -> [(key: String, value: YAMLField)] {
        guard case .mapping(let pairs) = content else { throw wrong(expected: "a mapping") }
        return pairs
    }
}

// MARK: - libyaml

/// The owner of a `yaml_document_t`, whose nodes refer to each other by number.
@safe private struct YAMLDocument: ~Copyable {
    private var document = unsafe yaml_document_t()
    private var valueCount = 0

    /// Corresponds to `yaml_parser_load`.
    init(_ text: [UInt8]) throws(SystemError) {
        // On the heap: it points to itself.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { unsafe parser.deallocate() }
        let result = unsafe yaml_parser_initialize(parser)
        precondition(result == 1, "no memory for a YAML parser")
        defer { unsafe yaml_parser_delete(parser) }
        let isLoaded = unsafe text.withUnsafeBufferPointer { text in
            unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
            return unsafe yaml_parser_load(parser, &document) == 1
        }
        guard !isLoaded else { return }
        var reason = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "not YAML"
        // "second occurrence" needs "found duplicate anchor" before it.
        if unsafe parser.pointee.error == YAML_COMPOSER_ERROR, let context = unsafe parser.pointee.context {
            reason = unsafe "\(String(cString: context)), \(reason)"
        }
        // The reader, which checks the encoding, knows the place in the text only.
        let line =
            unsafe parser.pointee.error == YAML_READER_ERROR
            ? text.prefix(parser.pointee.problem_offset).count { $0 == UInt8(ascii: "\n") }
            : Int(parser.pointee.problem_mark.line)
        throw .yaml(line: line + 1, reason)
    }

    deinit {
        var document = unsafe document
        unsafe yaml_document_delete(&document)
    }

    mutating func root() throws(SystemError) -> YAMLField? {
        unsafe document.nodes.start == document.nodes.top ? nil : try field(1, path: "", depth: 1)
    }

    private mutating func field(_ number: Int32, path: String, depth: Int) throws(SystemError) -> YAMLField {
        let node = unsafe document.nodes.start[Int(number) - 1]
        let line = unsafe Int(node.start_mark.line) + 1
        valueCount += 1
        let maximumDepth = YAMLField.maximumDepth
        let maximumValues = YAMLField.maximumValues
        if depth > maximumDepth { throw .yaml(line: line, "nested deeper than \(maximumDepth) levels") }
        if valueCount > maximumValues { throw .yaml(line: line, "more than \(maximumValues) values") }
        let tag = unsafe String(cString: node.tag)
        guard let kind = tag.dropping(prefix: "tag:yaml.org,2002:"), ["str", "seq", "map"].contains(kind) else {
            let shown = "!!" + (tag.split(separator: ":").last ?? "")
            throw .yaml(line: line, "\(quoted(shown, limit: 40)) is not supported, expected a value without a tag")
        }
        switch unsafe node.type {
        case YAML_SEQUENCE_NODE:
            var values: [YAMLField] = []
            let items = unsafe node.data.sequence.items
            for index in 0..<(unsafe items.top - items.start) {
                let item = unsafe items.start[index]
                values.append(try field(item, path: "\(path)[\(index)]", depth: depth + 1))
            }
            return YAMLField(path: path, line: line, content: .list(values))
        case YAML_MAPPING_NODE:
            var values: [(key: String, value: YAMLField)] = []
            var keys: Set<[UInt8]> = []
            let pairs = unsafe node.data.mapping.pairs
            for index in 0..<(unsafe pairs.top - pairs.start) {
                let pair = unsafe pairs.start[index]
                let prefix = path.isEmpty ? "" : path + "."
                let key = try field(pair.key, path: prefix + "a key", depth: depth + 1)
                let name = try key.text()
                let shown = quoted(name, limit: 40)
                if case .scalar("<<", isPlain: true) = key.content {
                    throw .yaml(line: key.line, "merge keys (<<) are not supported, expected the keys themselves")
                }
                guard keys.insert(Array(name.utf8)).inserted else {
                    throw .yaml(line: key.line, "the key \(shown) is there twice")
                }
                // A key may be long, and its values many.
                let segment = name.utf8.count > 128 ? shown : name
                values.append((name, try field(pair.value, path: prefix + segment, depth: depth + 1)))
            }
            return YAMLField(path: path, line: line, content: .mapping(values))
        default:
            let scalar = unsafe node.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let text = unsafe String(decoding: bytes, as: UTF8.self)
            let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
            return YAMLField(path: path, line: line, content: .scalar(text, isPlain: isPlain))
        }
    }
}
