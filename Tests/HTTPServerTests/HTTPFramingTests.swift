import HTTPText
import Testing

@testable import HTTPServer

@Suite struct HTTPFramingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var fields: [HTTPField]
        /// The status of the rejection, if it is one.
        var status: Int?
        var hasContent: Bool
        var testDescription: String { fields.map { "\($0.name): \($0.value)" }.joined(separator: "; ") }

        init(_ fields: KeyValuePairs<String, String>, status: Int? = nil, hasContent: Bool = false) {
            self.fields = fields.map { HTTPField(name: $0.key, value: $0.value) }
            self.status = status
            self.hasContent = hasContent
        }

        static let all: [Case] =
            [
                Case(["Host": "a, b"], status: 400), Case(["Host": "x", "A b": "c"], status: 400),
                Case(["Host": "x", "A": "b\u{1}"], status: 400), Case(["Host": ""]),
                Case(["HOST": "x", "Hosts": "y", "Ghost": "z"]),
                Case([:], status: 400), Case(["Host": "x", "host": "x"], status: 400),
                Case(["Host": "x", "Content-Length": "0"]), Case(["Host": "x", "content-LENGTH": "00 \t"]),
                Case(["Host": "x", "Content-Length": "1"], hasContent: true),
                Case(["Host": "x", "Content-Length": "0010  "], hasContent: true),
                Case(["Host": "x", "Content-Length": String(repeating: "9", count: 99)], hasContent: true),
                Case(["Host": "x", "Content-Length": "0", "content-length": "0"], status: 400),
                Case(["Host": "x", "Transfer-Encoding": "chunked"], status: 411),
                Case(["Host": "x", "TRANSFER-encoding": ""], status: 411),
                Case(["Host": "x", "Transfer-Encoding": "chunked", "Content-Length": "0"], status: 400),
            ]
            + ["", " ", "-1", "+1", "0x1", "1 1", "1.0", "1,1", "٣"].map {
                Case(["Host": "x", "Content-Length": $0], status: 400)
            }
    }

    @Test(arguments: Case.all) func `The header says where the request ends`(_ scenario: Case) {
        do throws(HTTPRejection) {
            let framing = try HTTPFraming(of: scenario.fields, needsHost: true)
            #expect(scenario.status == nil && framing.hasContent == scenario.hasContent)
        } catch {
            #expect(error.status == scenario.status)
        }
    }

    @Test func `HTTP 1.0 needs no host`() throws {
        #expect(try !HTTPFraming(of: [], needsHost: false).hasContent)
    }
}
