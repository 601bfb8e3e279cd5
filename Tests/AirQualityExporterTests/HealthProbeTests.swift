import HTTPServer
import System
import Testing

@testable import AirQualityExporter

/// `EndToEnd/web/test_healthcheck.py` has the probe beside real servers.
struct HealthProbeTests {
    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n", 200, "OK"),
            ("HTTP/1.0 200\r\n\r\nOK\r\nmore", 200, "OK"),
            ("HTTP/1.1 503 x\r\n\r\n", 503, ""), ("", nil, "closed"), ("HTTP/1.1 200 OK\r\n", nil, "not HTTP"),
            ("SSH-2.0-x\r\n\r\n", nil, "not HTTP"), ("HTTP/2 200 OK\r\n\r\n", nil, "not HTTP"),
            ("HTTP/1.1 099 x\r\n\r\n", nil, "not HTTP"), ("HTTP/1.1 +99 x\r\n\r\n", nil, "not HTTP"),
            ("HTTP/1.1 100 x\r\n\r\n", nil, "not HTTP"),
        ] as [(String, Int?, String)])
    func `A response is read, or is an error`(response: String, status: Int?, text: String) {
        do throws(SystemError) {
            var pieces = [Array(response.utf8)]
            let answer = try HealthProbe.response { () throws(SystemError) in pieces.popLast() ?? [] }
            #expect(status.map { HealthProbe.Response(status: $0, line: text) } == answer)
        } catch {
            #expect(status == nil && error.code == .peer && error.reason.contains(text))
        }
    }

    @Test func `A response without end is read up to the limit of its line`() throws {
        var isFirst = true
        let answer = try HealthProbe.response { () throws(SystemError) in
            defer { isFirst = false }
            return isFirst ? Array("HTTP/1.1 200 OK\r\n\r\n".utf8) : [UInt8](repeating: 0x61, count: 1 << 16)
        }
        #expect(answer.status == 200 && answer.line == String(repeating: "a", count: HealthProbe.lineLimit))
    }

    @Test func `An address without a port is an error`() throws {
        let error = #expect(throws: SystemError.self) {
            try HealthProbe(address: .tcp(host: "localhost", port: 0)).get("/")
        }
        #expect(error?.code == .address)
    }
}
