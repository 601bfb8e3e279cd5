import HTTPText
import Synchronization
import System
import TestSupport
import Testing

@testable import HTTPClient

private func makeClient(
    timeout: Duration = .seconds(30), maximumBodyBytes: Int = 8 << 20, authorities: [UInt8]? = nil
) throws -> HTTPClient {
    try HTTPClient(
        userAgent: "air-quality-exporter/test", timeout: timeout, maximumBodyBytes: maximumBodyBytes,
        authorities: authorities)
}

/// The reason for the failure; empty if there was none.
private func failure(
    of url: String, headers: [String] = [], timeout: Duration = .seconds(30), maximumBodyBytes: Int = 8 << 20,
    authorities: [UInt8]? = nil
) throws -> String {
    let client = try makeClient(timeout: timeout, maximumBodyBytes: maximumBodyBytes, authorities: authorities)
    do throws(SystemError) {
        _ = try client.get(url, headers: headers)
        return ""
    } catch {
        return error.reason
    }
}

private func failure(
    at server: ScriptedServer, timeout: Duration = .seconds(30), maximumBodyBytes: Int = 8 << 20
) throws -> String {
    try withExtendedLifetime(server) {
        try failure(of: server.url, timeout: timeout, maximumBodyBytes: maximumBodyBytes)
    }
}

struct HTTPClientTests {
    @Test func `A request carries its fields, and its response has status, header and body`() throws {
        let server = ScriptedServer(
            "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nRetry-After:  7\r\nX: a: b\r\nx: c\r\n\r\nhello")
        let response = try makeClient().get(server.url + "path?a=b", headers: ["X-API-Key: secret"])
        #expect(response?.status == 404)
        #expect(response?.body == Array("hello".utf8))
        #expect(response?.headers.first("retry-after") == "7")
        #expect(response?.headers.first("x") == "a: b")
        #expect(response?.headers.first("y") == nil)
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("GET /path?a=b HTTP/1.1\r\n"))
        for line in ["User-Agent: air-quality-exporter/test", "X-API-Key: secret"] {
            #expect(request.contains("\r\n\(line)\r\n"), "\(request)")
        }
        #expect(request.contains("gzip"))
    }

    @Test func `A connection is reused`() throws {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let server = ScriptedServer(response, response, response)
        let client = try makeClient()
        for _ in 0..<3 {
            let status = try client.get(server.url)?.status
            #expect(status == 200)
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `Interim responses are skipped`() throws {
        let server = ScriptedServer("HTTP/1.1 103 Early Hints\r\nA: 1\r\n\r\nHTTP/1.1 204 No Content\r\nB: 2\r\n\r\n")
        let response = try withExtendedLifetime(server) { try makeClient().get(server.url) }
        #expect(response == HTTPClientResponse(status: 204, headers: [HTTPField(name: "B", value: "2")]))
    }

    // MARK: Limits

    @Test(arguments: [
        ("Content-Length: 2001", 2001, "the body has more than 2000 bytes"),
        ("Connection: close", 2001, "the body has more than 2000 bytes"), ("Connection: close", 2000, ""),
    ])
    func `A body up to the limit is accepted, and a larger one rejected, announced or not`(
        header: String, count: Int, words: String
    ) throws {
        let server = ScriptedServer("HTTP/1.1 200 OK\r\n\(header)\r\n\r\n" + String(repeating: "x", count: count))
        #expect(try failure(at: server, maximumBodyBytes: 2000) == words)
    }

    @Test func `A header that is too long is rejected`() throws {
        let lines = String(repeating: "A: " + String(repeating: "x", count: 1000) + "\r\n", count: 400)
        #expect(try failure(at: ScriptedServer("HTTP/1.1 200 OK\r\n" + lines + "\r\n")).contains("headers"))
    }

    @Test func `Trailers are not among the header fields, and too many of them are rejected`() throws {
        let begin = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        let server = ScriptedServer(begin + "A: b\r\n\r\n")
        let response = try withExtendedLifetime(server) { try makeClient().get(server.url) }
        #expect(response?.headers.map(\.name) == ["Transfer-Encoding"])
        let trailers = String(repeating: "A: b\r\n", count: 100_000)
        #expect(try failure(at: ScriptedServer(begin + trailers + "\r\n")).contains("header"))
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
    func `A request to a server that falls silent times out`(begin: String) throws {
        let server = ScriptedServer { connection in
            connection.send(begin)
            connection.holdOpen()
        }
        #expect(try failure(at: server, timeout: .milliseconds(200)).contains("timed out"))
    }

    // MARK: Broken peers

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "220 mail.example.org ESMTP\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    ])
    func `A response that is cut off or not HTTP is a failure with a one-line reason`(response: String) throws {
        let server = ScriptedServer { $0.send(response) }
        let text = try failure(at: server)
        #expect(!text.isEmpty && !text.contains { $0.isNewline })
    }

    @Test func `A compressed body with something behind it is not called too long`() throws {
        // A compressed empty text, and two zeros.
        let body: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3] + Array(repeating: 0, count: 11)
        let server = ScriptedServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 22\r\n\r\n")
            connection.send(body)
        }
        let text = try failure(at: server)
        #expect(!text.isEmpty && !text.contains("more than"), "\(text)")
    }

    @Test func `A request that cannot be sent fails with the cause`() throws {
        let url = ScriptedServer().url
        #expect(try failure(of: url).contains("connect"))
        #expect(try failure(of: "http://nobody.invalid/").contains("resolve"))
        #expect(try failure(of: "gopher://127.0.0.1/").contains("gopher"))
        #expect(try failure(of: "http://\0/").contains("control character"))
    }

    @Test func `A field with a line break is not sent`() throws {
        let server = ScriptedServer()
        #expect(try failure(of: server.url, headers: ["A: b\r\nC: d"]) == "the request has a control character")
        #expect(server.requests.isEmpty)
    }

    @Test func `A server without TLS and a file without certificates fail the request`() throws {
        let server = RawServer { connection, _ in
            _ = connection.receive()
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        defer { server.stop() }
        let url = "https://127.0.0.1:\(server.port)/"
        #expect(try !failure(of: url).isEmpty)
        #expect(try !failure(of: url, authorities: []).isEmpty)
    }

    // MARK: Cancellation

    @Test func `A request that is no longer wanted ends within seconds`() throws {
        let isWanted = Mutex(true)
        let endedAt = Mutex(Duration.zero)
        let server = ScriptedServer { connection in
            endedAt.withLock { $0 = monotonicTime() }
            isWanted.withLock { $0 = false }
            connection.holdOpen()
        }
        let response = try withExtendedLifetime(server) {
            try makeClient().get(server.url) { isWanted.withLock(\.self) }
        }
        #expect(response == nil)
        #expect(monotonicTime() - endedAt.withLock(\.self) < .seconds(5))
    }

    /// libcurl calls back once more after a request has failed.
    @Test func `A request that fails once it is no longer wanted reports no failure`() throws {
        let url = ScriptedServer().url
        let client = try makeClient()
        for last in 1...8 {
            var calls = 0
            do throws(SystemError) {
                let response = try client.get(url) {
                    calls += 1
                    return calls < last
                }
                #expect(response == nil)
            } catch {
                #expect(calls < last, "call \(last) of \(calls): \(error)")
            }
        }
    }
}
