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
