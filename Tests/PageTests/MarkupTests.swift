import Testing

@testable import Page

struct MarkupTests {
    @Test func `Markup escapes what is interpolated, and nothing else`() {
        let name = "<b>&\"'"
        #expect(text("<i>\(name)</i>") == "<i>&lt;b&gt;&amp;&quot;'</i>")
        #expect(text("\(Array(name.utf8)[...])") == "&lt;b&gt;&amp;&quot;'")
        #expect(text("\("<i>" as Markup)") == "<i>")
        #expect(text("\(percent: Array("a/ä b?".utf8)[...])") == "a%2F%C3%A4%20b%3F")
        #expect(text("\(percent: 1.0 / 3)|\(percent: 1)|\(percent: -0.0125)") == "33.33%|100.0%|-1.25%")
        #expect(text("\(amount: 0.04)|\(amount: 9.94)|\(amount: 9.96)|\(amount: 1234.5)") == "0.0|9.9|10|1235")
    }

    private func text(_ markup: Markup) -> String { String(decoding: markup.bytes, as: UTF8.self) }
}
