import System
import Testing

@testable import AirQualityExporter

@Suite struct HealthAnswerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: String
        var answer: HealthAnswer?
        /// What is known before the server closes the connection.
        var early: HealthAnswer?
        var testDescription: String { name }

        init(_ name: String, _ bytes: String, _ answer: HealthAnswer?, early: HealthAnswer? = nil) {
            self.name = name
            self.bytes = bytes
            self.answer = answer
            self.early = early
        }

        static let ok = HealthAnswer(status: 200, line: "OK")

        static let all = [
            Case("one line", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n", ok, early: ok),
            Case("line without an end", "HTTP/1.1 200 OK\r\n\r\nOK", ok),
            Case("CR LF", "HTTP/1.1 200 OK\r\n\r\nOK\r\nmore", ok, early: ok),
            Case(
                "two lines", "HTTP/1.1 503 x\r\n\r\nwhy\nmore", .init(status: 503, line: "why"),
                early: .init(status: 503, line: "why")),
            Case("no body", "HTTP/1.1 200 OK\r\n\r\n", .init(status: 200, line: "")),
            Case("no reason", "HTTP/1.1 200\r\n\r\nOK", ok),
            Case("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nOK", ok),
            Case("interim response", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nOK\n", ok, early: ok),
            Case(
                "chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nOK\n\r\n0\r\n\r\n", ok, early: ok),
            Case(
                "chunked, cut", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3", .init(status: 200, line: "")),
            Case("nothing", "", nil),
            Case("half a head", "HTTP/1.1 200 OK\r\n", nil),
            Case("not HTTP", "SSH-2.0-x\r\n\r\n", nil),
            Case("HTTP/2", "HTTP/2 200 OK\r\n\r\n", nil),
            Case("no status", "HTTP/1.1 \r\n\r\n", nil),
            Case("status is text", "HTTP/1.1 abc\r\n\r\n", nil),
            Case("status too small", "HTTP/1.1 099 x\r\n\r\n", nil),
            Case("status too large", "HTTP/1.1 600 x\r\n\r\n", nil),
            Case("interim responses only", "HTTP/1.1 100 x\r\n\r\nHTTP/1.1 102 x\r\n\r\n", nil),
        ]
    }

    @Test("a response is read", arguments: Case.all)
    func reads(_ scenario: Case) {
        let bytes = Array(scenario.bytes.utf8)
        #expect((try? HealthAnswer.parse(bytes, isComplete: true)) == scenario.answer)
        #expect((try? HealthAnswer.parse(bytes, isComplete: false)) == scenario.early)
    }

    @Test("every beginning of a response is a wait, an answer or an error") func beginnings() throws {
        for scenario in Case.all where scenario.answer != nil {
            for count in 0..<scenario.bytes.utf8.count {
                let answer = try HealthAnswer.parse(Array(scenario.bytes.utf8.prefix(count)), isComplete: false)
                #expect(answer == nil || answer == scenario.answer)
            }
        }
    }

    @Test("neither head nor line is without bound") func bounds() throws {
        let head = Array("HTTP/1.1 200 OK\r\n".utf8) + [UInt8](repeating: 0x61, count: 20_000)
        let error = #expect(throws: SystemError.self) { try HealthAnswer.parse(head, isComplete: false) }
        #expect(error?.code == .peer)
        let line = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 0x61, count: 20_000)
        let answer = try HealthAnswer.parse(line, isComplete: false)
        #expect(answer?.line.utf8.count == HealthProbe.lineLimit)
    }
}
