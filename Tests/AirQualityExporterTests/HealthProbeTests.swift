import HTTPServer
import System
import Testing

@testable import AirQualityExporter

/// `EndToEnd/web/test_healthcheck.py` tests the probe with real servers.
struct HealthProbeTests {
    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n", "OK", nil),
            ("HTTP/1.0 200\r\n\r\nOK\r\nmore", "OK", nil), ("HTTP/1.1 200 OK\r\n\r\n", "", nil),
            ("HTTP/1.1 503 x\r\n\r\nwhy\n", nil, "status 503: why"), ("", nil, "the server closed the connection"),
        ]
            + [
                "HTTP/1.1 200 OK\r\n", "SSH-2.0-x\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n",
                "HTTP/1.1 +99 x\r\n\r\n", "HTTP/1.1 100 x\r\n\r\n",
            ].map { ($0, nil, "the response is not HTTP/1.1") } as [(String, String?, String?)])
    func `A good response gives its first line, others an error`(response: String, line: String?, problem: String?) {
        do throws(SystemError) {
            var pieces = [Array(response.utf8)]
            #expect(try HealthProbe.line { () throws(SystemError) in pieces.popLast() ?? [] } == line)
        } catch {
            #expect(error == SystemError(.peer, problem ?? ""))
        }
    }

    @Test func `An endless response is read up to the line limit`() throws {
        var isFirst = true
        let line = try HealthProbe.line { () throws(SystemError) in
            defer { isFirst = false }
            return isFirst ? Array("HTTP/1.1 200 OK\r\n\r\n".utf8) : [UInt8](repeating: 0x61, count: 1 << 16)
        }
        #expect(line == String(repeating: "a", count: HealthProbe.lineLimit))
    }

    @Test func `An address without a port is an error`() throws {
        let error = #expect(throws: SystemError.self) {
            try HealthProbe(address: .tcp(host: "localhost", port: 0)).get("/")
        }
        #expect(error?.code == .address)
    }
}
