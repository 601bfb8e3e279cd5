/// A JSON value as a tree, for explaining messages. ``JSONReader`` reads the feeds.
public indirect enum JSONTree: Sendable, Equatable {
    case null
    case boolean(Bool)
    /// A whole number by its digits; any other as the shortest text that reads back as the same double.
    case number(String)
    case text(String)
    case array([JSONTree])
    /// The fields in their original order.
    case object([JSONField])
}

public struct JSONField: Sendable, Equatable {
    public let name: String
    public let value: JSONTree

    public init(_ name: String, _ value: JSONTree) {
        self.name = name
        self.value = value
    }
}

extension JSONTree {
    static let maximumDepth = 128

    /// Returns a message's JSON texts, separated as by ``JSONReader``; `nil` if it is not JSON or nested too deep.
    ///
    /// - Parameter limit: leaves out values at this position or later; a value takes one or two positions.
    public static func texts(of message: Span<UInt8>, limit: Int = .max) -> [JSONTree]? {
        var reader = JSONReader(maximumDepth: maximumDepth)
        return reader.read(message).map { reader.trees(at: $0, reader.texts, limit: limit) }
    }

    /// Parses a single JSON text; `nil` for anything else.
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
    fileprivate func trees(at positions: Range<Int>, _ texts: [UInt8], limit: Int) -> [JSONTree] {
        var trees: [JSONTree] = []
        var position = positions.lowerBound
        while position < min(positions.upperBound, limit) {
            trees.append(tree(at: position, texts, limit: limit))
            position = next(after: position)
        }
        return trees
    }

    private func tree(at position: Int, _ texts: [UInt8], limit: Int) -> JSONTree {
        switch value(at: position) {
        case .null: return .null
        case .boolean(let isTrue): return .boolean(isTrue)
        case .number(let number):
            return .number(wholeNumber(at: position).map { String(decoding: $0, as: UTF8.self) } ?? "\(number)")
        case .text(let range): return .text(String(decoding: texts[range], as: UTF8.self))
        case .array(let elements): return .array(trees(at: elements, texts, limit: limit))
        case .object(let positions):
            let values = trees(at: positions, texts, limit: limit)
            var fields: [JSONField] = []
            for index in stride(from: 0, to: values.count - 1, by: 2) {
                if case .text(let name) = values[index] { fields.append(JSONField(name, values[index + 1])) }
            }
            return .object(fields)
        }
    }
}
