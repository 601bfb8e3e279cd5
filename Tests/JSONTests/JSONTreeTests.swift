import Testing

@testable import JSON

@Suite struct JSONTreeTests {
    @Test func `A tree keeps all values of a message in order`() {
        let message = #"{"a":[1,-2.5,1.50,18446744073709551615,true,false,null],"a":{"":"é\n"}} 7"#
        let numbers = ["1", "-2.5", "1.5", "18446744073709551615"].map { JSONTree.number($0) }
        #expect(
            JSONTree.texts(of: message.utf8Span.span) == [
                .object([
                    JSONField("a", .array(numbers + [.boolean(true), .boolean(false), .null])),
                    JSONField("a", .object([JSONField("", .text("é\n"))])),
                ]), .number("7"),
            ])
    }

    @Test func `A string becomes a tree if it holds exactly one JSON text`() {
        #expect(JSONTree("[7]") == .array([.number("7")]))
        #expect(JSONTree("7 8") == nil)
        #expect(JSONTree("[") == nil)
    }

    @Test func `The last of several members with the same name wins`() {
        let tree = JSONTree(#"{"a":1,"b":2,"a":3}"#)
        #expect(tree?["a"] == .number("3"))
        #expect(tree?["c"] == nil)
        #expect(JSONTree("[]")?["a"] == nil)
    }

    @Test func `A tree can be limited to the first values of a message`() {
        let message = #"[{"a":1,"b":2},{"a":3}]"#
        let trees = (0..<30).map { JSONTree.texts(of: message.utf8Span.span, limit: $0) }
        #expect(trees.contains([.array([.object([JSONField("a", .number("1"))])])]))
        #expect(trees.last == JSONTree.texts(of: message.utf8Span.span))
    }

    @Test func `A message that is nested too deeply has no tree`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        }
        #expect(JSONTree(nested(JSONTree.maximumDepth)) != nil)
        #expect(JSONTree(nested(JSONTree.maximumDepth + 1)) == nil)
    }
}
