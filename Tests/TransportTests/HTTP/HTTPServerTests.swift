import Synchronization
import TestSupport
import Testing

@testable import Transport

/// A server on a free loopback port, stopped when the test lets go of it.
func serve(
    _ change: (inout HTTPServerConfiguration) -> Void = { _ in },
    respond: @escaping @Sendable (borrowing HTTPRequest) -> HTTPResponse
) throws -> HTTPServer {
    var configuration = HTTPServerConfiguration(addresses: [.tcp(host: "127.0.0.1", port: 0)])
    change(&configuration)
    return try HTTPServer(configuration: configuration, onRequest: respond)
}

extension HTTPServer {
    var port: Int {
        get throws {
            for case .tcp(_, let port) in addresses { return port }
            throw TransportError(.address, "no TCP address")
        }
    }

    func connect(receiveBuffer: Int32? = nil) throws -> RawHTTPClient {
        try RawHTTPClient(port: port, receiveBuffer: receiveBuffer)
    }
}

/// Answers with what it was asked.
@Sendable func echo(_ request: borrowing HTTPRequest) -> HTTPResponse {
    let text = "\(request.method)|\(request.path)|\(request.query)"
    return HTTPResponse(status: 200, headers: [("Content-Type", "text/plain")], body: .bytes(Array(text.utf8)))
}

@Suite struct HTTPServerTests {
    @Test func answersOverOneConnectionAgainAndAgain() throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        for query in ["", "a=1", "b=%20&c"] {
            let answer = try client.request(query.isEmpty ? "/metrics" : "/metrics?\(query)")
            #expect(answer.status == 200)
            #expect(answer.text == "GET|/metrics|\(query)")
            #expect(answer.value("Content-Type") == "text/plain")
            #expect(answer.values("Date").count == 1)
            #expect(answer.values("Server").isEmpty)
            #expect(answer.values("Connection").isEmpty)
        }
    }

    @Test func headHasTheHeaderOfGetAndNoContent() throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        let get = try client.request("/x")
        let head = try client.request("/x", method: "HEAD")
        #expect(head.status == 200)
        // One byte more: the echo says HEAD.
        #expect(head.value("Content-Length") == "\(get.body.count + 1)")
        #expect(head.value("Content-Type") == "text/plain")
        // Were there content, it would stand before this answer.
        #expect(try client.request("/y").text == "GET|/y|")
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        client.send((0..<50).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
        for index in 0..<50 { #expect(try client.readAnswer().text == "GET|/\(index)|") }
    }

    @Test func http10EndsTheConnection() throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        client.send("GET /old HTTP/1.0\r\n\r\n")
        let answer = try client.readAnswer()
        #expect(answer.text == "GET|/old|")
        #expect(answer.value("Connection") == "close")
        #expect(try client.readToEnd().isEmpty)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"])
    func theClosureSeesEveryMethod(_ method: String) throws {
        let server = try serve(respond: echo)
        #expect(try server.connect().request("/x", method: method).text == "\(method)|/x|")
    }

    @Test(arguments: [
        ["Content-Length: 5\r\n\r\n12345"],
        ["Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n"],
        ["Expect: 100-continue\r\nContent-Length: 0\r\n\r\n"],
    ])
    func contentIsReadAndThrownAway(_ rest: [String]) throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        for _ in 0..<3 {
            client.send("POST /in HTTP/1.1\r\nHost: x\r\n" + rest[0])
            #expect(try client.readAnswer().text == "POST|/in|")
        }
    }

    @Test func contentOverTheBoundIsRefused() throws {
        let server = try serve({ $0.limits.maximumBodyBytes = 1000 }, respond: echo)
        let announced = try server.connect()
        announced.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n")
        #expect(try announced.readAnswer().status == 413)
        #expect(try announced.readToEnd().isEmpty)

        let chunked = try server.connect()
        chunked.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<3 { chunked.send("190\r\n" + String(repeating: "x", count: 400) + "\r\n") }
        #expect(try chunked.readToEnd().isEmpty)

        let allowed = try server.connect()
        allowed.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "x", count: 1000))
        #expect(try allowed.readAnswer().status == 200)
    }

    @Test func headerFieldsAreFoundInAnyCaseAndJoined() throws {
        let server = try serve { request in
            let text = "\(request.header("accept") ?? "-")|\(request.header("X-None") ?? "-")"
            return HTTPResponse(status: 200, body: .bytes(Array(text.utf8)))
        }
        let client = try server.connect()
        #expect(try client.request("/", headers: ["ACCEPT: a", "accept:b;q=1"]).text == "a, b;q=1|-")
        #expect(try client.request("/").text == "-|-")
    }

    @Test(arguments: [0, 1, 2, 40, 1023, 1024, 1025, 5000])
    func blocksArriveInOrder(_ count: Int) throws {
        let blocks = (0..<count).map { index in
            [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: index % 97 == 3 ? 0 : 50 + index % 331)
        }
        let kept = HTTPResponse(status: 200, body: .blocks(blocks))
        let server = try serve { request in
            request.path == "/kept" ? kept : HTTPResponse(status: 200, body: .blocks(blocks))
        }
        let client = try server.connect()
        for path in ["/fresh", "/kept", "/kept", "/fresh"] {
            #expect(try client.request(path).body == blocks.flatMap { $0 })
        }
        #expect(try client.request("/kept", method: "HEAD").value("Content-Length") == "\(blocks.joined().count)")
    }

    /// 16 MB in blocks to readers that begin late: the kernel takes pieces of pieces.
    @Test func largeContentIsSentInParts() throws {
        let blocks = (0..<1000).map { index in (0..<16_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) } }
        let expected = blocks.flatMap { $0 }
        let server = try serve { _ in HTTPResponse(status: 200, body: .blocks(blocks)) }
        let clients = try (0..<3).map { _ in try server.connect(receiveBuffer: 4096) }
        for client in clients { client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
        for client in clients { #expect(try client.readAnswer().body == expected) }
    }

    /// The caller's arrays may change while they are being sent.
    @Test func blocksAreUnaffectedByLaterWrites() throws {
        let blocks = Mutex((0..<100).map { [UInt8](repeating: UInt8($0), count: 100_000) })
        let server = try serve { _ in
            HTTPResponse(status: 200, body: .blocks(blocks.withLock { $0 }))
        }
        let client = try server.connect(receiveBuffer: 4096)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try client.awaitBytes()
        blocks.withLock { blocks in
            for index in blocks.indices { blocks[index][0] = 255 }
        }
        let answer = try client.readAnswer()
        #expect(answer.body.count == 10_000_000)
        #expect(!answer.body.contains(255))
    }

    /// The caller decides what a refusal of the server looks like, path by path.
    @Test func refusalsAreAnsweredAsTheCallerWants() throws {
        let server = try serve(
            {
                $0.web.users = [[1]: "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"]
                $0.limits.maximumBodyBytes = 10
                $0.refuse = { refusal, path in
                    HTTPResponse(
                        status: refusal.status, headers: refusal.headers, line: "\(path ?? "no path"): \(refusal.line)")
                }
            }, respond: echo)
        let client = try server.connect()
        let unauthorized = try client.request("/a?b")
        #expect(unauthorized.status == 401)
        #expect(unauthorized.value("WWW-Authenticate") == "Basic")
        #expect(unauthorized.text == "/a: a user and a password are needed\n")
        #expect(try client.request("/%00").text == "no path: the request target is malformed\n")
        #expect(try client.request("/" + String(repeating: "x", count: 5000)).status == 414)
        #expect(
            try client.request("/c", headers: ["Content-Length: 11"]).text
                == "/c: the content is longer than 10 bytes\n")
    }

    @Test func manyAddresses() throws {
        let server = try HTTPServer(
            configuration: HTTPServerConfiguration(addresses: [
                .tcp(host: "127.0.0.1", port: 0), .tcp(host: "", port: 0), .tcp(host: "localhost", port: 0),
            ]), onRequest: echo)
        #expect(server.addresses.count == 3)
        for case .tcp(_, let port) in server.addresses {
            #expect(port != 0)
            #expect(try RawHTTPClient(port: port).request("/").status == 200)
        }
    }

    @Test func stopEndsEverything() throws {
        let server = try serve(respond: echo)
        let port = try server.port
        let client = try server.connect()
        #expect(try client.request("/").status == 200)
        server.stop(within: .seconds(10))
        #expect(try client.readToEnd().isEmpty)
        #expect(throws: RawHTTPClient.Failure.self) { try RawHTTPClient(port: port) }
        server.stop(within: .seconds(10))
    }

    @Test func stopLetsADownloadEnd() async throws {
        let blocks = [[UInt8]](repeating: [UInt8](repeating: 7, count: 1_000_000), count: 12)
        let server = try serve { _ in HTTPResponse(status: 200, body: .blocks(blocks)) }
        let client = try server.connect(receiveBuffer: 4096)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try client.awaitBytes()
        let stopping = try ServiceThread(name: "stop") { server.stop(within: .seconds(60)) }
        eventually("no more listening") { (try? server.connect()) == nil }
        #expect(try client.readAnswer().body.count == 12_000_000)
        stopping.join()
    }

    @Test func stopWaitsNoLongerThanItMay() throws {
        let blocks = [[UInt8]](repeating: [UInt8](repeating: 7, count: 1_000_000), count: 12)
        let server = try serve { _ in HTTPResponse(status: 200, body: .blocks(blocks)) }
        let client = try server.connect(receiveBuffer: 4096)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try client.awaitBytes()
        server.stop(within: .milliseconds(50))
        #expect(try client.readToEnd().count < 12_000_000)
    }
}
