internal import Bytes
internal import System

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
