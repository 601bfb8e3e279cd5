import TestSupport
import Testing

@testable import HTTPServer
@testable import System

/// A server on a free loopback port that stops when it is released. The closure responds to every request.
func serve(
    limit: RequestLimit? = nil, meter: HTTPMeter? = nil, open: [String] = [],
    _ change: (inout HTTPServerConfiguration) -> Void = { _ in },
    respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
) throws -> HTTPServer {
    let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"]
    let routes =
        open.map { Route($0, methods: methods, isExempt: true, respond: respond) }
        + [Route("", isFolder: true, methods: methods, limit: limit, meter: meter, respond: respond)]
    var configuration = HTTPServerConfiguration(addresses: [.tcp(host: "127.0.0.1", port: 0)], routes: routes)
    change(&configuration)
    return try HTTPServer(configuration: configuration)
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

/// Responds with the method, the path and the query of the request.
@Sendable func echo(_ request: HTTPRequest) -> HTTPResponse {
    let text = "\(request.method)|\(request.path)|\(request.query)"
    return HTTPResponse(status: 200, headers: [("Content-Type", "text/plain")], body: .bytes(Array(text.utf8)))
}

@Suite struct HTTPServerTests {
    @Test func `An HTTP 1.0 request ends the connection`() throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        client.send("GET /old HTTP/1.0\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.text == "GET|/old|")
        #expect(response.values("Date").count == 1 && response.values("Server").isEmpty)
        #expect(response.value("Connection") == "close")
        #expect(try client.readToEnd().isEmpty)
    }

    /// Content has no meaning for any path: the request is answered, and the connection ends instead of reading it.
    @Test(arguments: [
        "Content-Length: 5\r\n\r\n12345", "Content-Length: 5\r\n\r\n", "Content-Length: 0005 \r\n\r\nabc",
        "Content-Length: 5\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "Content-Length: 1\(String(repeating: "0", count: 40))\r\n\r\n",
        "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    ])
    func `A request with content ends the connection`(_ rest: String) throws {
        let server = try serve(respond: echo)
        for method in ["POST", "GET"] {
            let client = try server.connect()
            #expect(try client.request("/first").value("Connection") == nil)
            client.send("\(method) /in HTTP/1.1\r\nHost: x\r\n" + rest)
            let response = try client.readResponse()
            if LibMicroHTTPD.isVersion0 || response.status != 413 { #expect(response.text == "\(method)|/in|") }
            #expect(response.value("Connection") == "close")
            #expect(try client.readToEnd().isEmpty)
        }
    }

    @Test(arguments: [
        "Content-Length: 0\r\n\r\n", "Expect: 100-continue\r\nContent-Length: 00\r\n\r\n",
        "Expect: 100-continue\r\n\r\n", "expect: 100-Continue\r\nExpect: 100-continue\r\n\r\n", "Expect: x\r\n\r\n",
    ])
    func `A request without content is answered, and so are those after it`(_ rest: String) throws {
        let server = try serve(respond: echo)
        for method in ["POST", "GET"] {
            let client = try server.connect()
            client.send(String(repeating: "\(method) /in HTTP/1.1\r\nHost: x\r\n" + rest, count: 3))
            for _ in 0..<3 { #expect(try client.readResponse().text == "\(method)|/in|") }
            #expect(try client.request("/last").text == "GET|/last|")
        }
    }

    @Test func `Header fields are found in any case, and repeated ones are joined`() throws {
        let server = try serve { request in
            let text = "\(request.header("accept") ?? "-")|\(request.header("X-None") ?? "-")"
            return HTTPResponse(status: 200, body: .bytes(Array(text.utf8)))
        }
        let client = try server.connect()
        #expect(try client.request("/", headers: ["ACCEPT: a", "accept:b;q=1"]).text == "a, b;q=1|-")
        #expect(try client.request("/").text == "-|-")
    }

    /// Sizes around the one from which content is sent in blocks, and around whole blocks.
    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 262_143, 262_144, 262_145, 524_288, 4_000_003])
    func `A response body of any size is sent whole`(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        let server = try serve { _ in HTTPResponse(status: 200, body: .bytes(bytes)) }
        let client = try server.connect()
        for _ in 0..<2 {
            #expect(try client.request("/").body == bytes)
            #expect(try client.request("/", method: "HEAD").value("Content-Length") == "\(count)")
        }
    }

    @Test func `A rejection has the form of its route, and every response forbids sniffing`() throws {
        let server = try serve {
            $0.access.users = HTTPAccess.Users(hashes: [:]) { _ in false }
            $0.routes = [
                Route("/data", headers: [("A", "b")], rejectsInJSON: true, respond: echo),
                Route("/open", isExempt: true, respond: echo),
            ]
            $0.notFound = "nothing here"
        } respond: {
            echo($0)
        }
        func ask(_ target: String, _ method: String = "GET", headers: [String] = []) throws -> RawHTTPClient.Response {
            try server.connect().request(target, method: method, headers: headers)
        }
        let unauthorized = try ask("/data?b")
        #expect(unauthorized.status == 401)
        #expect(unauthorized.value("WWW-Authenticate") == "Basic" && unauthorized.value("A") == "b")
        #expect(unauthorized.text == "{\"error\": \"authentication required\"}\n")
        #expect(unauthorized.value("X-Content-Type-Options") == "nosniff")
        #expect(try ask("/other").text == "authentication required\n")
        #expect(try ask("/%00").text == "the request target is malformed\n")
        #expect(try ask("/data", headers: ["Host: y"]).text == "{\"error\": \"expected exactly one Host field\"}\n")
        let notAllowed = try ask("/open", "POST")
        #expect(notAllowed.status == 405 && notAllowed.value("Allow") == "GET, HEAD")
        #expect(notAllowed.text == "method not allowed here, expected GET, HEAD\n")
        try server.adopt(HTTPAccess())
        let missing = try ask("/open/")
        #expect(missing.status == 404 && missing.text == "nothing here\n")
        #expect(missing.value("X-Content-Type-Options") == "nosniff")
    }

    /// A server with a download that is under way.
    private func downloading() throws -> (server: HTTPServer, client: RawHTTPClient) {
        let bytes = [UInt8](repeating: 7, count: 12_000_000)
        let server = try serve { _ in HTTPResponse(status: 200, body: .bytes(bytes)) }
        let client = try server.connect(receiveBuffer: 4096)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try client.awaitBytes()
        return (server, client)
    }

    @Test func `Stopping the server lets a download finish`() throws {
        let (server, client) = try downloading()
        let stopping = try ServiceThread(name: "stop") { server.stop(within: .seconds(60)) }
        eventually("no more listening") { (try? server.connect()) == nil }
        #expect(try client.readResponse().body.count == 12_000_000)
        stopping.join()
    }

    @Test func `Stopping the server waits no longer than its limit`() throws {
        let (server, client) = try downloading()
        server.stop(within: .milliseconds(50))
        #expect(try client.readToEnd().count < 12_000_000)
    }
}
