internal import Bytes

/// The content of a tree, for people who ask for a part of it.
extension JSONTree {
    public var text: String? { if case .text(let text) = self { text } else { nil } }

    public var elements: [JSONTree]? { if case .array(let elements) = self { elements } else { nil } }

    public var isNumber: Bool { if case .number = self { true } else { false } }

    /// The value that the tokens of a JSON Pointer lead to.
    public func value(at pointer: [[UInt8]]) -> JSONTree? {
        pointer.reduce(self as JSONTree?) { value, token in
            let name = String(decoding: token, as: UTF8.self)
            guard let elements = value?.elements else { return value?[name] }
            return Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        }
    }

    /// The tree as JSON, on one line.
    public var json: String {
        switch self {
        case .null: "null"
        case .boolean(let isTrue): "\(isTrue)"
        case .number(let digits): digits
        case .text(let text): jsonLiteral(text)
        case .array(let elements): "[" + elements.map(\.json).joined(separator: ",") + "]"
        case .object(let fields):
            "{" + fields.map { "\(jsonLiteral($0.name)):\($0.value.json)" }.joined(separator: ",") + "}"
        }
    }
}

/// The text as a string of JSON, on one line and without apostrophes, so that a shell takes it in single quotes.
public func jsonLiteral(_ text: String) -> String { jsonString(text) { breaksLine($0) || $0 == "'" } }
