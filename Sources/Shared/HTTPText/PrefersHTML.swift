/// Whether an error is shown as a page, from the request's `Accept`: if HTML is named, as browsers do, and its weight
/// is at least that of plain text, if named.
public func prefersHTML(accept: String?) -> Bool {
    let elements = AcceptElement.list(accept ?? "")
    func quality(_ name: String) -> Int { elements.filter { $0.name == name }.map(\.quality).max() ?? 0 }
    return quality("text/html") > 0 && quality("text/html") >= quality("text/plain")
}
