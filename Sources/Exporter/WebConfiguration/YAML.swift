internal import Bytes
internal import CYAML
internal import System

/// A piece of a YAML document, aliases already replaced by what they name.
struct YAMLNode: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case scalar(Scalar)
        case sequence([YAMLNode])
        /// In the document's order; no two keys are scalars of the same text, merge keys (`<<`) apart.
        case mapping([Pair])
    }

    struct Scalar: Sendable, Equatable {
        var text: String
        /// As written or resolved, for example `tag:yaml.org,2002:int`; nil when the document has none.
        var tag: String?
        /// Written without quotes and tag, so that the text decides whether it is a number, a boolean or null.
        var isPlain: Bool
    }

    struct Pair: Sendable, Equatable {
        var key: YAMLNode
        var value: YAMLNode
    }

    var content: Content
    /// Counted from 1; where the node, or the alias for it, begins.
    var line: Int
}

extension YAMLNode {
    /// What a document may be at most. Nodes count once more for each alias that names them.
    struct Limits: Sendable {
        var depth = 32
        var nodes = 20_000
    }

    /// The first document of a YAML 1.1 text in UTF-8 or, with a byte order mark, UTF-16; nil when the text has none.
    /// Errors have `configuration` as their code and begin with the line.
    static func parse(_ text: [UInt8], limits: Limits = Limits()) throws(SystemError) -> YAMLNode? {
        var composer = YAMLComposer(parser: YAMLParser(text), limits: limits)
        return try composer.firstDocument()
    }
}

extension SystemError {
    static func yaml(line: Int, _ reason: String) -> SystemError {
        SystemError(.configuration, "line \(line): \(reason)")
    }
}

// MARK: - libyaml

/// One step through a document, as libyaml reports it.
enum YAMLEvent: Equatable {
    case documentStart
    case documentEnd
    case streamEnd
    case alias(name: String)
    case scalar(YAMLNode.Scalar, anchor: String?)
    case sequenceStart(anchor: String?)
    case sequenceEnd
    case mappingStart(anchor: String?)
    case mappingEnd
}

/// Owns a `yaml_parser_t` and the text that it reads.
@safe struct YAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    init(_ text: [UInt8]) {
        unsafe self.text = .allocate(capacity: text.count)
        _ = unsafe self.text.initialize(fromContentsOf: text)
        unsafe parser = .allocate(capacity: 1)
        let result = unsafe yaml_parser_initialize(parser)
        precondition(result == 1, "no memory for a YAML parser")
        unsafe yaml_parser_set_input_string(parser, self.text.baseAddress, self.text.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe text.deallocate()
    }

    /// The next event and the line where it begins, counted from 1; not to be called after `streamEnd` or an error.
    /// Corresponds to `yaml_parser_parse`.
    func next() throws(SystemError) -> (event: YAMLEvent, line: Int) {
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw problem() }
            defer { unsafe yaml_event_delete(&event) }
            if let read = unsafe YAMLEvent(event) {
                return unsafe (read, Int(event.start_mark.line) + 1)
            }
        }
    }

    private func problem() -> SystemError {
        let reason = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "not YAML"
        guard unsafe parser.pointee.error == YAML_READER_ERROR else {
            return unsafe .yaml(line: Int(parser.pointee.problem_mark.line) + 1, reason)
        }
        // The reader, which checks the encoding, knows the place in the text only.
        let lines = unsafe text.prefix(parser.pointee.problem_offset).count { $0 == UInt8(ascii: "\n") }
        return .yaml(line: lines + 1, reason)
    }
}

extension YAMLEvent {
    /// Nil for the start of the stream, which says nothing.
    fileprivate init?(_ event: yaml_event_t) {
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT:
            self = .documentStart
        case YAML_DOCUMENT_END_EVENT:
            self = .documentEnd
        case YAML_STREAM_END_EVENT:
            self = .streamEnd
        case YAML_ALIAS_EVENT:
            self = unsafe .alias(name: text(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            self = unsafe .scalar(
                YAMLNode.Scalar(
                    text: String(decoding: bytes, as: UTF8.self), tag: text(scalar.tag),
                    isPlain: scalar.plain_implicit != 0),
                anchor: text(scalar.anchor))
        case YAML_SEQUENCE_START_EVENT:
            self = unsafe .sequenceStart(anchor: text(event.data.sequence_start.anchor))
        case YAML_SEQUENCE_END_EVENT:
            self = .sequenceEnd
        case YAML_MAPPING_START_EVENT:
            self = unsafe .mappingStart(anchor: text(event.data.mapping_start.anchor))
        case YAML_MAPPING_END_EVENT:
            self = .mappingEnd
        default:
            return nil
        }
    }
}

private func text(_ characters: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    unsafe characters.map { unsafe String(cString: $0) }
}

// MARK: - The tree

/// Builds the tree of a document from the parser's events.
struct YAMLComposer: ~Copyable {
    private let parser: YAMLParser
    private let limits: YAMLNode.Limits
    private var anchors: [String: Anchor] = [:]
    private var nodeCount = 0

    private enum Anchor {
        /// The named node is still being read.
        case open
        case complete(YAMLNode, size: Size)
    }

    /// What a node brings along when it is repeated.
    private struct Size {
        var nodes = 1
        var depth = 1
    }

    init(parser: consuming YAMLParser, limits: YAMLNode.Limits) {
        self.parser = parser
        self.limits = limits
    }

    mutating func firstDocument() throws(SystemError) -> YAMLNode? {
        let (start, _) = try parser.next()
        guard start == .documentStart else { return nil }
        let (event, line) = try parser.next()
        let (node, _) = try compose(event, line: line, depth: 1)
        // Reading on to the document's end finds what does not belong there.
        _ = try parser.next()
        return node
    }

    private mutating func compose(
        _ event: YAMLEvent, line: Int, depth: Int
    ) throws(SystemError) -> (YAMLNode, Size) {
        try count(Size(), line: line, depth: depth)
        switch event {
        case .scalar(let scalar, let anchor):
            let node = YAMLNode(content: .scalar(scalar), line: line)
            remember(anchor, node, Size())
            return (node, Size())
        case .alias(let name):
            return try repeated(name, line: line, depth: depth)
        case .sequenceStart(let anchor):
            open(anchor)
            var nodes: [YAMLNode] = []
            var size = Size()
            while case (let event, let line) = try parser.next(), event != .sequenceEnd {
                nodes.append(try child(event, line: line, depth: depth, of: &size))
            }
            let node = YAMLNode(content: .sequence(nodes), line: line)
            remember(anchor, node, size)
            return (node, size)
        case .mappingStart(let anchor):
            open(anchor)
            var pairs: [YAMLNode.Pair] = []
            var keys: Set<[UInt8]> = []
            var size = Size()
            while case (let event, let line) = try parser.next(), event != .mappingEnd {
                let key = try child(event, line: line, depth: depth, of: &size)
                if case .scalar(let scalar) = key.content, !scalar.isMergeKey,
                    !keys.insert(Array(scalar.text.utf8)).inserted
                {
                    throw .yaml(line: line, "the key \(quoted(scalar.text, limit: 40)) is there twice")
                }
                let (event, line) = try parser.next()
                pairs.append(.init(key: key, value: try child(event, line: line, depth: depth, of: &size)))
            }
            let node = YAMLNode(content: .mapping(pairs), line: line)
            remember(anchor, node, size)
            return (node, size)
        case .documentStart, .documentEnd, .streamEnd, .sequenceEnd, .mappingEnd:
            preconditionFailure("libyaml pairs its events")
        }
    }

    private mutating func child(
        _ event: YAMLEvent, line: Int, depth: Int, of size: inout Size
    ) throws(SystemError) -> YAMLNode {
        let (node, childSize) = try compose(event, line: line, depth: depth + 1)
        size.nodes += childSize.nodes
        size.depth = max(size.depth, childSize.depth + 1)
        return node
    }

    private mutating func repeated(
        _ name: String, line: Int, depth: Int
    ) throws(SystemError) -> (YAMLNode, Size) {
        switch anchors[name] {
        case nil: throw .yaml(line: line, "*\(name) names no anchor before it")
        case .open: throw .yaml(line: line, "*\(name) stands inside what it names")
        case .complete(var node, let size):
            try count(size, line: line, depth: depth)
            node.line = line
            return (node, size)
        }
    }

    private mutating func count(_ size: Size, line: Int, depth: Int) throws(SystemError) {
        nodeCount += size.nodes
        if depth + size.depth - 1 > limits.depth {
            throw .yaml(line: line, "nested deeper than \(limits.depth) levels")
        }
        if nodeCount > limits.nodes {
            throw .yaml(line: line, "more than \(limits.nodes) values")
        }
    }

    private mutating func open(_ anchor: String?) {
        if let anchor { anchors[anchor] = .open }
    }

    private mutating func remember(_ anchor: String?, _ node: YAMLNode, _ size: Size) {
        if let anchor { anchors[anchor] = .complete(node, size: size) }
    }
}

extension YAMLNode.Scalar {
    /// `<<`, whose value's pairs count as the mapping's own (https://yaml.org/type/merge.html).
    var isMergeKey: Bool {
        text == "<<" && (isPlain || tag == "tag:yaml.org,2002:merge")
    }
}
