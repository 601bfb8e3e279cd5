import Testing

@testable import Page

@Suite("Markup") struct MarkupTests {
    @Test("escapes what is interpolated, and nothing else") func escapes() {
        let name = "<b>&\"'"
        #expect(text("<i>\(name)</i>") == "<i>&lt;b&gt;&amp;&quot;'</i>")
        #expect(text("\(Array(name.utf8)[...])") == "&lt;b&gt;&amp;&quot;'")
        #expect(text("\("<i>" as Markup)") == "<i>")
        #expect(text("\(percent: Array("a/ä b?".utf8)[...])") == "a%2F%C3%A4%20b%3F")
        #expect(text("\(decimals: 50.996)|\(decimals: 0)|\(decimals: 7.049)") == "51.00|0.00|7.05")
        #expect(text("\(percent: 1.0 / 3)|\(percent: 1)|\(percent: -0.0125)") == "33.33%|100.00%|-1.25%")
    }

    private func text(_ markup: Markup) -> String { String(decoding: markup.bytes, as: UTF8.self) }
}
