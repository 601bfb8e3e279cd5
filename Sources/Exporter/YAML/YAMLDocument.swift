internal import Bytes
internal import CYAML
internal import System

/// The owner of a `yaml_document_t`, whose nodes refer to each other by number.
@safe struct YAMLDocument: ~Copyable {
    static let maximumDepth = 8
    /// Maximum number of values in a document. Each alias counts the values that it refers to again.
    static let maximumValues = 20_000

    private var document = unsafe yaml_document_t()
    private var valueCount = 0
    /// Whether anything follows the document.
    private(set) var hasNext = false

    /// Loads the first document of the text. Corresponds to `yaml_parser_load`.
    init(_ text: [UInt8]) throws(SystemError) {
        try unsafe Self.parse(text, with: Self.checkLimits)
        try unsafe Self.parse(text) { parser in
            guard unsafe yaml_parser_load(parser, &document) == 1 else { return false }
            var next = unsafe yaml_event_t()
            hasNext = unsafe yaml_parser_parse(parser, &next) != 1 || next.type == YAML_DOCUMENT_START_EVENT
            unsafe yaml_event_delete(&next)
            return true
        }
    }

    /// Calls `body` with a parser of the text. Throws the parser's error if the result is `false`.
    private static func parse(
        _ text: [UInt8], with body: (UnsafeMutablePointer<yaml_parser_t>) throws(SystemError) -> Bool
    ) throws(SystemError) {
        // On the heap, because it contains pointers to itself.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { unsafe parser.deallocate() }
        let result = unsafe yaml_parser_initialize(parser)
        precondition(result == 1, "no memory for a YAML parser")
        defer { unsafe yaml_parser_delete(parser) }
        let isParsed = try unsafe text.withUnsafeBufferPointer { text throws(SystemError) in
            unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
            return try unsafe body(parser)
        }
        guard !isParsed else { return }
        var reason = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "not YAML"
        // The problem "second occurrence" needs its context, "found duplicate anchor".
        if unsafe parser.pointee.error == YAML_COMPOSER_ERROR, let context = unsafe parser.pointee.context {
            reason = unsafe "\(String(cString: context)), \(reason)"
        }
        // Errors of the reader, which checks the encoding, have a byte offset instead of a line.
        let line =
            unsafe parser.pointee.error == YAML_READER_ERROR
            ? text.prefix(parser.pointee.problem_offset).count { $0 == UInt8(ascii: "\n") }
            : Int(parser.pointee.problem_mark.line)
        throw .yaml(line: line + 1, reason)
    }

    /// Checks the first document event by event: the time to load it grows with the square of depth and anchors.
    private static func checkLimits(_ parser: UnsafeMutablePointer<yaml_parser_t>) throws(SystemError) -> Bool {
        var depth = 0
        var valueCount = 0
        var event = unsafe yaml_event_t()
        while unsafe yaml_parser_parse(parser, &event) == 1 {
            defer { unsafe yaml_event_delete(&event) }
            switch unsafe event.type {
            case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT:
                depth += 1
                valueCount += 1
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: depth -= 1
            case YAML_SCALAR_EVENT, YAML_ALIAS_EVENT: valueCount += 1
            case YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT: return true
            default: break
            }
            try unsafe check(depth: depth, valueCount: valueCount, at: event.start_mark)
        }
        return false
    }

    private static func check(depth: Int, valueCount: Int, at mark: yaml_mark_t) throws(SystemError) {
        let line = Int(mark.line) + 1
        if depth > maximumDepth { throw .yaml(line: line, "nested deeper than \(maximumDepth) levels") }
        if valueCount > maximumValues { throw .yaml(line: line, "more than \(maximumValues) values") }
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
        try unsafe Self.check(depth: depth, valueCount: valueCount, at: node.start_mark)
        let tag = unsafe String(cString: node.tag)
        let shownTag = tag.replacing("tag:yaml.org,2002:", with: "!!")
        guard ["!!str", "!!seq", "!!map"].contains(shownTag) else {
            throw .yaml(line: line, "\(quoted(shownTag, limit: 40)) is not supported, expected a value without a tag")
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
                // An address in place of a key may have a password.
                let safeName = masked(path: masked(address: name))
                let shown = quoted(safeName, limit: 40)
                if case .scalar("<<", isPlain: true) = key.content {
                    throw .yaml(line: key.line, "merge keys (<<) are not supported, expected the keys themselves")
                }
                guard keys.insert(Array(name.utf8)).inserted else {
                    throw .yaml(line: key.line, "the key \(shown) is given twice")
                }
                // All values below a key repeat it in their paths, so a long key is shortened.
                let segment = safeName.utf8.count > 128 ? shown : safeName
                var value = try field(pair.value, path: prefix + segment, depth: depth + 1)
                value.keyLine = key.line
                values.append((name, value))
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
