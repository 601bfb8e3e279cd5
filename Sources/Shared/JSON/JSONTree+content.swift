internal import Bytes

/// Access to parts of a tree.
extension JSONTree {
    public var text: String? { if case .text(let text) = self { text } else { nil } }

    public var elements: [JSONTree]? { if case .array(let elements) = self { elements } else { nil } }

    public var isNumber: Bool { if case .number = self { true } else { false } }

    /// Returns the value to which the tokens of a JSON Pointer lead.
    public func value(at pointer: [[UInt8]]) -> JSONTree? {
        pointer.reduce(self as JSONTree?) { value, token in value?.child(String(decoding: token, as: UTF8.self)) }
    }

    private func child(_ token: String) -> JSONTree? {
        guard let elements else { return self[token] }
        guard let index = Int(token), elements.indices.contains(index) else { return nil }
        return elements[index]
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

/// Returns the text as a JSON string on one line and without apostrophes, so that it can be single-quoted in a shell.
public func jsonLiteral(_ text: String) -> String { jsonString(text) { breaksLine($0) || $0 == "'" } }
