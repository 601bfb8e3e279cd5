import Bytes
import Synchronization
import System
import TestSupport
import Testing

@testable import HTTPClient

@discardableResult
private func withClient<Result>(
    _ change: (inout HTTPClientConfiguration) -> Void = { _ in },
    _ body: (borrowing HTTPClient) throws -> Result
) throws -> Result {
    var configuration = HTTPClientConfiguration(userAgent: "air-quality-exporter/test")
    change(&configuration)
    return try body(try HTTPClient(configuration))
}

/// Why the request fails, nil when it does not.
private func failure(of request: HTTPClientRequest, _ client: borrowing HTTPClient) -> HTTPFailure? {
    do throws(HTTPFailure) {
        _ = try client.get(request)
        return nil
    } catch {
        return error
    }
}

private func failure(
    of url: String, _ change: (inout HTTPClientConfiguration) -> Void = { _ in }
) throws -> HTTPFailure.Reason? {
    try withClient(change) { failure(of: HTTPClientRequest(url: url), $0)?.reason }
}

private func failure(
    at server: ScriptedServer, _ change: (inout HTTPClientConfiguration) -> Void = { _ in }
) throws -> HTTPFailure.Reason? {
    try withExtendedLifetime(server) { try failure(of: server.url, change) }
}

struct HTTPClientTests {
    @Test func `A response has status, header and body, and the request what it was given`() throws {
        let server = ScriptedServer(
            "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nRetry-After:  7\r\nX: a: b\r\nx: c\r\n\r\nhello")
        let response = try withClient { client in
            try client.get(HTTPClientRequest(url: server.url + "path?a=b", headers: ["X-API-Key: secret"]))
        }
        #expect(response.status == 404)
        #expect(response.body == Array("hello".utf8))
        #expect(response.header("retry-after") == "7")
        #expect(response.header("x") == "a: b")
        #expect(response.header("y") == nil)
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("GET /path?a=b HTTP/1.1\r\n"))
        for line in ["User-Agent: air-quality-exporter/test", "X-API-Key: secret"] {
            #expect(request.contains("\r\n\(line)\r\n"), "\(request)")
        }
        #expect(request.contains("gzip"))
    }

    @Test func `A connection is used again`() throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        let server = ScriptedServer(answer, answer, answer)
        try withClient { client in
            for _ in 0..<3 {
                let status = try client.get(HTTPClientRequest(url: server.url)).status
                #expect(status == 200)
            }
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `Statuses before the last one are passed over`() throws {
        let server = ScriptedServer("HTTP/1.1 103 Early Hints\r\nA: 1\r\n\r\nHTTP/1.1 204 No Content\r\nB: 2\r\n\r\n")
        let response = try withClient { client in try client.get(HTTPClientRequest(url: server.url)) }
        #expect(response == HTTPClientResponse(status: 204, headers: ["B": "2"]))
    }

    // MARK: Redirects

    private func redirect(_ target: String) -> String {
        "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n"
    }

    @Test func `A redirect on the same host is followed`() throws {
        let server = ScriptedServer(redirect("/other?x"), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let response = try withClient { client in
            try client.get(HTTPClientRequest(url: server.url, headers: ["Key: k"]))
        }
        #expect(response.body == Array("ok".utf8))
        #expect(server.requests.last?.hasPrefix("GET /other?x HTTP/1.1\r\n") == true)
        #expect(server.requests.last?.contains("\r\nKey: k\r\n") == true)
    }

    @Test func `A redirect to another host is not followed, and the request goes nowhere`() throws {
        let other = ScriptedServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let server = ScriptedServer(redirect(other.url + "?secret"))
        let error = try withClient { failure(of: HTTPClientRequest(url: server.url), $0) }
        #expect(error == HTTPFailure(.redirect, "the response 302 redirects to \(other.url.dropLast())"))
        #expect(other.requests.isEmpty)
    }

    @Test func `Redirects without end are given up`() throws {
        let server = ScriptedServer(
            redirect("/"), redirect("/"), redirect("/"), redirect("/"), redirect("/"), redirect("/"), redirect("/"))
        #expect(try failure(at: server) == .redirect)
        #expect(server.requests.count == 6)
    }

    @Test func `A redirect to a file is none`() throws {
        #expect(try failure(at: ScriptedServer(redirect("file:///etc/passwd"))) == .redirect)
    }

    // MARK: Limits

    @Test(arguments: ["Content-Length: 2001\r\n\r\n", "Connection: close\r\n\r\n"])
    func `A body above the limit is refused, announced or not`(header: String) throws {
        let server = ScriptedServer("HTTP/1.1 200 OK\r\n\(header)" + String(repeating: "x", count: 2001))
        #expect(try failure(at: server) { $0.maximumBodyBytes = 2000 } == .tooLarge)
    }

    @Test func `A body of the limit is taken`() throws {
        let body = String(repeating: "x", count: 2000)
        let server = ScriptedServer("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)
        #expect(try failure(at: server) { $0.maximumBodyBytes = 2000 } == nil)
    }

    @Test func `A header without end is refused`() throws {
        let lines = String(repeating: "A: " + String(repeating: "x", count: 1000) + "\r\n", count: 70)
        #expect(try failure(at: ScriptedServer("HTTP/1.1 200 OK\r\n" + lines + "\r\n")) == .tooLarge)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"])
    func `A server that falls silent ends in a time-out`(begin: String) throws {
        let server = ScriptedServer { connection in
            connection.send(begin)
            connection.holdOpen()
        }
        #expect(try failure(at: server) { $0.timeout = .milliseconds(200) } == .timeout)
    }

    // MARK: Broken peers

    @Test(arguments: [
        ("", HTTPFailure.Reason.lost), ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", .lost),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", .lost),
        ("220 mail.example.org ESMTP\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", .malformed),
    ])
    func `What is cut off or no HTTP is named so`(answer: String, reason: HTTPFailure.Reason) throws {
        let server = ScriptedServer { $0.send(answer) }
        #expect(try failure(at: server) == reason)
    }

    @Test func `A port where nobody listens, a name that nobody has, an address that is none`() throws {
        let url = ScriptedServer().url
        #expect(try failure(of: url) == .connect)
        #expect(try failure(of: "http://nobody.invalid/") == .resolve)
        #expect(try failure(of: "gopher://127.0.0.1/") == .malformed)
        #expect(try failure(of: "http://\0/") == .other)
    }

    @Test func `A header with a line end is not sent`() throws {
        let server = ScriptedServer()
        let error = try withClient { failure(of: HTTPClientRequest(url: server.url, headers: ["A: b\r\nC: d"]), $0) }
        #expect(error?.reason == .other)
        #expect(server.requests.isEmpty)
    }

    @Test func `A server that does not speak TLS, and a file that holds no certificates`() throws {
        let server = RawServer { connection, _ in
            _ = connection.receive()
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        defer { server.stop() }
        let url = "https://127.0.0.1:\(server.port)/"
        #expect(try failure(of: url) == .tls)
        #expect(try failure(of: url) { $0.authorities = [] } == .tls)
    }

    // MARK: Cancellation

    @Test func `A request that is no longer wanted ends within a second`() throws {
        let isWanted = Mutex(true)
        let endedAt = Mutex(Duration.zero)
        let server = ScriptedServer { connection in
            endedAt.withLock { $0 = monotonicTime() }
            isWanted.withLock { $0 = false }
            connection.holdOpen()
        }
        try withClient { client in
            do throws(HTTPFailure) {
                _ = try client.get(HTTPClientRequest(url: server.url)) { isWanted.withLock(\.self) }
                Issue.record("a response")
            } catch {
                #expect(error.reason == .cancelled)
            }
        }
        #expect(monotonicTime() - endedAt.withLock(\.self) < .seconds(5))
    }
}
