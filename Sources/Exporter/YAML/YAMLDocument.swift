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
        // On the heap, because it contains pointers to itself.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { unsafe parser.deallocate() }
        let result = unsafe yaml_parser_initialize(parser)
        precondition(result == 1, "no memory for a YAML parser")
        defer { unsafe yaml_parser_delete(parser) }
        let isLoaded = unsafe text.withUnsafeBufferPointer { text in
            unsafe yaml_parser_set_input_string(parser, text.baseAddress, text.count)
            return unsafe yaml_parser_load(parser, &document) == 1
        }
        guard !isLoaded else {
            var next = unsafe yaml_document_t()
            hasNext = unsafe yaml_parser_load(parser, &next) != 1 || next.nodes.start != next.nodes.top
            unsafe yaml_document_delete(&next)
            return
        }
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
        if depth > Self.maximumDepth { throw .yaml(line: line, "nested deeper than \(Self.maximumDepth) levels") }
        if valueCount > Self.maximumValues { throw .yaml(line: line, "more than \(Self.maximumValues) values") }
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
