internal import Bytes
internal import JSON

/// Values of a document at most. Each takes some fifty bytes while it is read, and the longest real document, a
/// thousand locations of OpenAQ, has a third of them.
private let maximumValues = 300_000

/// Reads a source's document.
/// - Throws: what the source says in place of what was asked for, too.
func document(in body: [UInt8]) throws(SourceError) -> JSONNode {
    let marks = [UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{")]
    guard body.count(where: marks.contains) <= maximumValues else {
        throw .unreadable("it has more than \(maximumValues) values")
    }
    guard let texts = JSONTree.texts(of: body.span), texts.count == 1 else { throw .unreadable("it is no JSON") }
    let document = JSONNode(texts[0])
    let status = try? document["status"].text()
    let isError =
        ["error", "fail", "failed", "nope", "nug"].contains(status) || texts[0]["error"] == .boolean(true)
        || (try? document["error"].text()) != nil
    guard !isError else { throw SourceError(vendorMessage: explanation(of: document) ?? "it gives no reason") }
    return document
}

/// Text for people in the body of a rejection, on one line: the first of the members that sources use for that.
public func explanation(in body: [UInt8]) -> String? {
    guard body.count <= 64 << 10, let texts = JSONTree.texts(of: body.span) else { return nil }
    return texts.first.flatMap { explanation(of: JSONNode($0)) }
}

private func explanation(of document: JSONNode) -> String? {
    let texts = ["reason", "error", "message", "detail", "msg", "data"].lazy.compactMap { try? document[$0].text() }
    return texts.first { !$0.isEmpty }.map { onOneLine(String($0.unicodeScalars.prefix(1000))) }
}
