import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

/// A server on a free loopback port, stopped when the test lets go of it.
func serve(
    _ change: (inout HTTPServerConfiguration) -> Void = { _ in },
    respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
) throws -> HTTPServer {
    var configuration = HTTPServerConfiguration(addresses: [.tcp(host: "127.0.0.1", port: 0)])
    change(&configuration)
    return try HTTPServer(configuration: configuration, onRequest: respond)
}

extension HTTPServerConfiguration {
    /// Counts these requests, and gives so many of them permits.
    mutating func meter(limit: Int = 0, _ isMetered: @escaping @Sendable (String) -> Bool = { _ in true }) {
        let permits = RequestPermits(limit: limit)
        handling = { request in
            var handling = HTTPHandling()
            guard isMetered(request.path) else { return handling }
            handling.isMetered = true
            handling.permits = permits
            return handling
        }
    }
}

extension HTTPServer {
    var port: Int {
        get throws {
            for case .tcp(_, let port) in addresses { return port }
            throw SystemError(.address, "no TCP address")
        }
    }

    func connect(receiveBuffer: Int32? = nil, from host: UInt8 = 1) throws -> RawHTTPClient {
        try RawHTTPClient(port: port, receiveBuffer: receiveBuffer, from: host)
    }
}

/// Answers with what it was asked.
@Sendable func echo(_ request: HTTPRequest) -> HTTPResponse {
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

    /// Content has no meaning for any path: the request is answered, and the connection ends instead of taking it in.
    @Test(arguments: [
        "Content-Length: 5\r\n\r\n12345", "Content-Length: 5\r\n\r\n", "Content-Length: 0005 \r\n\r\nabc",
        "Content-Length: 5\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "Content-Length: 1\(String(repeating: "0", count: 40))\r\n\r\n",
        "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    ])
    func contentEndsTheConnection(_ rest: String) throws {
        let server = try serve(respond: echo)
        for method in ["POST", "GET"] {
            let client = try server.connect()
            #expect(try client.request("/first").value("Connection") == nil)
            client.send("\(method) /in HTTP/1.1\r\nHost: x\r\n" + rest)
            let answer = try client.readAnswer()
            if isVersion0 || answer.status != 413 { #expect(answer.text == "\(method)|/in|") }
            #expect(answer.value("Connection") == "close")
            #expect(try client.readToEnd().isEmpty)
        }
    }

    @Test(arguments: ["Content-Length: 0\r\n\r\n", "Expect: 100-continue\r\nContent-Length: 00\r\n\r\n"])
    func noContentDoesNot(_ rest: String) throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        for _ in 0..<3 {
            client.send("POST /in HTTP/1.1\r\nHost: x\r\n" + rest)
            #expect(try client.readAnswer().text == "POST|/in|")
        }
    }

    /// Hundreds of cities or cookies are no reason to refuse a request within the limits.
    @Test func manyParametersAndCookies() throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        let query = Array(repeating: "c=%20+", count: 500).joined(separator: "&")
        let cookies = "Cookie: " + Array(repeating: "a=b", count: 800).joined(separator: "; ")
        for _ in 0..<3 {
            #expect(try client.request("/a%20b?\(query)").text == "GET|/a b|\(query)")
            #expect(try client.request("/", headers: [cookies]).text == "GET|/|")
            #expect(try client.request("/?\(query)", headers: [cookies]).text == "GET|/|\(query)")
        }
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
        let kept = HTTPResponse(status: 200, body: .pieces(blocks))
        let server = try serve { request in
            request.path == "/kept" ? kept : HTTPResponse(status: 200, body: .pieces(blocks))
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
        let server = try serve { _ in HTTPResponse(status: 200, body: .pieces(blocks)) }
        let clients = try (0..<3).map { _ in try server.connect(receiveBuffer: 4096) }
        for client in clients { client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
        for client in clients { #expect(try client.readAnswer().body == expected) }
    }

    /// The caller's arrays may change while they are being sent.
    @Test func blocksAreUnaffectedByLaterWrites() throws {
        let blocks = Mutex((0..<100).map { [UInt8](repeating: UInt8($0), count: 100_000) })
        let server = try serve { _ in HTTPResponse(status: 200, body: .pieces(blocks.withLock { $0 })) }
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
                $0.refuse = { refusal, path in
                    HTTPResponse(
                        status: refusal.status, headers: refusal.headers, line: "\(path ?? "no path"): \(refusal.line)")
                }
            }, respond: echo)
        let client = try server.connect()
        let unauthorized = try client.request("/a?b")
        #expect(unauthorized.status == 401)
        #expect(unauthorized.value("WWW-Authenticate") == "Basic")
        #expect(unauthorized.text == "/a: authentication required\n")
        #expect(try server.connect().request("/%00").text == "no path: the request target is malformed\n")
        #expect(try server.connect().request("/" + String(repeating: "x", count: 9000)).status == 414)
        let refused = try server.connect().request("/c?d", headers: ["Host: y"])
        #expect(refused.text == "/c: one Host field is needed\n")
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
        let server = try serve { _ in HTTPResponse(status: 200, body: .pieces(blocks)) }
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
        let server = try serve { _ in HTTPResponse(status: 200, body: .pieces(blocks)) }
        let client = try server.connect(receiveBuffer: 4096)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try client.awaitBytes()
        server.stop(within: .milliseconds(50))
        #expect(try client.readToEnd().count < 12_000_000)
    }
}
