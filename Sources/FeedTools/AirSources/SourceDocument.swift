internal import Bytes
internal import JSON

/// Maximum number of values in a document, about 50 bytes each. The largest real one, 1,000 OpenAQ locations, has a
/// third of that.
private let maximumValues = 300_000

/// Reads a source's document. An error message that the source sends in its place is thrown as well.
func document(in body: [UInt8]) throws(SourceError) -> JSONNode {
    let marks = [UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{")]
    guard body.count(where: marks.contains) <= maximumValues else {
        throw .unreadable("it has more than \(maximumValues) values")
    }
    guard let texts = JSONTree.texts(of: body.span), texts.count == 1 else { throw .unreadable("it is not JSON") }
    if let message = errorMessage(in: texts[0]) { throw SourceError(vendorMessage: message) }
    return JSONNode(tree: texts[0])
}

/// The error message that a source sends in place of data; `nil` for other documents.
public func errorMessage(in body: [UInt8]) -> String? { shortText(in: body).flatMap(errorMessage) }

private func errorMessage(in text: JSONTree) -> String? {
    let node = JSONNode(tree: text)
    let isError =
        switch text["error"] {
        case .boolean(true): true
        case .text(let text) where !text.isEmpty: true
        case .object(let fields) where !fields.isEmpty: true
        default: ["error", "fail", "failed", "nope", "nug"].contains(node["status"].scalar)
        }
    return isError ? explanation(of: node) ?? "it gives no reason" : nil
}

/// The human-readable message in an error response, on one line.
public func explanation(in body: [UInt8]) -> String? {
    shortText(in: body).flatMap { explanation(of: JSONNode(tree: $0)) }
}

private func shortText(in body: [UInt8]) -> JSONTree? {
    body.count <= 64 << 10 ? JSONTree.texts(of: body.span)?.first : nil
}

/// The text of a node, of its first element, or of the first field that sources use for messages.
private func explanation(of node: JSONNode) -> String? {
    if let text = node.text {
        return text.isEmpty ? nil : onOneLine(String(text.unicodeScalars.prefix(1000)))
    }
    if let elements = try? node.elements() { return elements.first.flatMap(explanation) }
    let names = ["reason", "error", "message", "detail", "msg", "data"]
    for name in names where node[name].exists {
        if let text = explanation(of: node[name]) { return text }
    }
    return nil
}
