/// A JSON value as a tree, for those who look at a message in order to explain it. Feeds are read by ``JSONReader``.
public indirect enum JSONTree: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// A whole number by its digits, another as the shortest text that reads back as the same double.
    case number(String)
    case text(String)
    case array([JSONTree])
    /// The fields in their order.
    case object([JSONField])
}

/// A field of an object.
public struct JSONField: Sendable, Equatable {
    public let name: String
    public let value: JSONTree

    public init(_ name: String, _ value: JSONTree) {
        self.name = name
        self.value = value
    }
}

extension JSONTree {
    /// Messages that are nested deeper have no tree.
    static let maximumDepth = 128

    /// The JSON texts of a message, as ``JSONReader`` separates them; `nil` when it is no JSON, or nested too deep.
    ///
    /// - Parameter limit: places of ``JSONReader`` after which values are left out; a value takes one or two.
    public static func texts(of message: Span<UInt8>, limit: Int = .max) -> [JSONTree]? {
        var reader = JSONReader()
        return reader.read(message).flatMap { reader.trees(at: $0, reader.texts, depth: 0, limit: limit) }
    }

    /// Reads one JSON text that stands in another; `nil` for anything else.
    public init?(_ text: String) {
        guard let texts = Self.texts(of: text.utf8Span.span), texts.count == 1 else { return nil }
        self = texts[0]
    }

    public subscript(name: String) -> JSONTree? {
        guard case .object(let fields) = self else { return nil }
        return fields.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}

extension JSONReader {
    fileprivate func trees(at places: Range<Int>, _ texts: [UInt8], depth: Int, limit: Int) -> [JSONTree]? {
        guard depth <= JSONTree.maximumDepth else { return nil }
        var trees: [JSONTree] = []
        var place = places.lowerBound
        while place < min(places.upperBound, limit) {
            guard let tree = tree(at: place, texts, depth: depth, limit: limit) else { return nil }
            trees.append(tree)
            place = next(after: place)
        }
        return trees
    }

    private func tree(at place: Int, _ texts: [UInt8], depth: Int, limit: Int) -> JSONTree? {
        switch value(at: place) {
        case .null: return .null
        case .boolean(let isTrue): return .boolean(isTrue)
        case .number(let number):
            return .number(wholeNumber(at: place).map { String(decoding: $0, as: UTF8.self) } ?? "\(number)")
        case .text(let range): return .text(String(decoding: texts[range], as: UTF8.self))
        case .array(let elements): return trees(at: elements, texts, depth: depth + 1, limit: limit).map { .array($0) }
        case .object(let places):
            guard let values = trees(at: places, texts, depth: depth + 1, limit: limit) else { return nil }
            var fields: [JSONField] = []
            for place in stride(from: 0, to: values.count - 1, by: 2) {
                if case .text(let name) = values[place] { fields.append(JSONField(name, values[place + 1])) }
            }
            return .object(fields)
        }
    }
}
