import Testing

@testable import HTTPText

@Suite struct HTTPFieldTests {
    @Test func `Token characters are exactly those of RFC 9110`() {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        let members = String(decoding: (0...255).filter(isTokenCharacter), as: UTF8.self)
        #expect(members == "!#$%&'*+-.0123456789" + letters + "^_`" + letters.lowercased() + "|~")
    }

    @Test func `Field names ignore case, the first value is found, and lists are joined`() {
        let fields = [
            HTTPField(name: "Air-Quality-Source", value: "one"), HTTPField(name: "air-quality-source", value: "two"),
            HTTPField(name: "X", value: "a, b"), HTTPField(name: "x", value: ",c ,"),
        ]
        #expect(fields.first("AIR-QUALITY-SOURCE") == "one")
        #expect(fields.first("other") == nil)
        #expect(fields.list("X") == ["a", "b", "c"])
        #expect(fields.list("other") == [])
    }

    @Test(
        arguments: [
            ("Authorization: Bearer x", HTTPField(name: "Authorization", value: "Bearer x")),
            ("A:b", HTTPField(name: "A", value: "b")), ("A: \tb \t", HTTPField(name: "A", value: "b")),
            ("A:", HTTPField(name: "A", value: "")), ("A: b: c", HTTPField(name: "A", value: "b: c")),
            ("A: é", HTTPField(name: "A", value: "é")), ("no colon", nil), (": b", nil), ("A b: c", nil),
            ("A : b", nil), ("A: b\r\nC: d", nil), ("A: b\u{0}", nil), ("A: b\u{1}c", nil), ("", nil),
        ] as [(String, HTTPField?)])
    func `A line that a user writes is parsed as a header field or rejected`(text: String, field: HTTPField?) {
        #expect(HTTPField(line: text) == field)
    }
}
