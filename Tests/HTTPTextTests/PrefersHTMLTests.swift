import HTTPText
import Testing

struct PrefersHTMLTests {
    @Test(
        arguments: [
            "text/html", "TEXT/HTML;q=0.5", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "text/plain;q=0.5, text/html", "text/html, text/plain",
        ])
    func `An Accept header prefers a page`(_ header: String) { #expect(prefersHTML(accept: header)) }

    @Test(
        arguments: [
            nil, "", "*/*", "text/*", "text/html;q=0", "text/plain, text/html;q=0.9", "application/json", "text/htmlx",
        ] as [String?])
    func `An Accept header prefers a line`(_ header: String?) { #expect(!prefersHTML(accept: header)) }
}
