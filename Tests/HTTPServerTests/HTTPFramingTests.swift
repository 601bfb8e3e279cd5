import Testing

@testable import HTTPServer

@Suite struct HTTPFramingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var fields: [(name: String, value: String)]
        /// Of the refusal, if any.
        var status: Int?
        var hasContent: Bool
        var testDescription: String { fields.map { "\($0.name): \($0.value)" }.joined(separator: "; ") }

        init(_ fields: KeyValuePairs<String, String>, status: Int? = nil, hasContent: Bool = false) {
            self.fields = fields.map { ($0.key, $0.value) }
            self.status = status
            self.hasContent = hasContent
        }

        static let all: [Case] = [
            Case(["Host": ""]), Case(["HOST": "x", "Hosts": "y", "Ghost": "z"]),
            Case([:], status: 400), Case(["Host": "x", "host": "x"], status: 400),
            Case(["Host": "x", "Content-Length": "0"]), Case(["Host": "x", "content-LENGTH": "00 \t"]),
            Case(["Host": "x", "Content-Length": "1"], hasContent: true),
            Case(["Host": "x", "Content-Length": "0010  "], hasContent: true),
            Case(["Host": "x", "Content-Length": String(repeating: "9", count: 99)], hasContent: true),
            Case(["Host": "x", "Content-Length": ""], status: 400),
            Case(["Host": "x", "Content-Length": " "], status: 400),
            Case(["Host": "x", "Content-Length": "-1"], status: 400),
            Case(["Host": "x", "Content-Length": "+1"], status: 400),
            Case(["Host": "x", "Content-Length": "0x1"], status: 400),
            Case(["Host": "x", "Content-Length": "1 1"], status: 400),
            Case(["Host": "x", "Content-Length": "1.0"], status: 400),
            Case(["Host": "x", "Content-Length": "1,1"], status: 400),
            Case(["Host": "x", "Content-Length": "٣"], status: 400),
            Case(["Host": "x", "Content-Length": "0", "content-length": "0"], status: 400),
            Case(["Host": "x", "Transfer-Encoding": "chunked"], status: 411),
            Case(["Host": "x", "TRANSFER-encoding": ""], status: 411),
            Case(["Host": "x", "Transfer-Encoding": "chunked", "Content-Length": "0"], status: 400),
        ]
    }

    @Test(arguments: Case.all) func `The header says where the request ends`(_ scenario: Case) {
        var framing = HTTPFraming()
        for field in scenario.fields { framing.add(name: Array(field.name.utf8), value: Array(field.value.utf8)) }
        #expect(framing.refusal(needsHost: true)?.status == scenario.status)
        if scenario.status == nil { #expect(framing.hasContent == scenario.hasContent) }
    }

    @Test func `HTTP 1.0 needs no host`() {
        #expect(HTTPFraming().refusal(needsHost: false) == nil)
    }
}
