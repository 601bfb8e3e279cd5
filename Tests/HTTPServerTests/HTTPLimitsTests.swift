import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct HTTPLimitsTests {
    /// More than the kernel's buffers hold.
    private static let large = HTTPBody.bytes([UInt8](repeating: 7, count: 20_000_000))

    private static let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func `A meter counts the requests of its routes`() throws {
        let meter = HTTPMeter(statuses: [503, 200])
        let server = try serve {
            $0.routes = [
                Route("/metrics", meter: meter) { _ in
                    HTTPResponse(status: 201, line: "\(meter.current.requestsInFlight)")
                }
            ]
        } respond: {
            echo($0)
        }
        #expect(meter.current.responses == [200: 0, 503: 0])
        let client = try server.connect()
        for path in ["/metrics", "/metrics?x", "/other", "/metrics"] { _ = try client.request(path) }
        #expect(try client.request("/metrics").text == "1\n")
        eventually("the end of the last request") { meter.current.requestsInFlight == 0 }
        #expect(meter.current == HTTPStatistics(requestsInFlight: 0, responses: [200: 0, 201: 4, 503: 0]))
    }

    @Test func `A request beyond the limit waits for its turn, and only as many wait as may run`() throws {
        let entered = Gate()
        let gate = Gate()
        let limit = RequestLimit(1, perClient: 1, waiting: 1, patience: .seconds(60), rejection: .busy("too many"))
        let meter = HTTPMeter(statuses: [200, 503])
        let server = try serve(limit: limit, meter: meter) { request in
            entered.open()
            gate.wait()
            return echo(request)
        }
        let first = try server.connect()
        first.send(Self.get)
        entered.wait()
        let others = try (0..<2).map { _ in try server.connect() }
        for client in others { client.send(Self.get) }
        eventually("one waits, and the other is one too many") { meter.current.responses[503] == 1 }
        for _ in 0..<2 { gate.open() }
        #expect(try first.readResponse().status == 200)
        #expect(try Set(others.map { try $0.readResponse().status }) == [200, 503])
    }

    /// 16 MiB for one address and 64 MiB in all.
    @Test func `The bytes of responses that wait to be sent are limited, and slow readers give way to others`() throws {
        let body = HTTPBody.bytes([UInt8](repeating: 7, count: 12 << 20))
        let respond: @Sendable (HTTPRequest) -> HTTPResponse = { _ in HTTPResponse(status: 200, body: body) }
        let data = Route("/data", rejectsInJSON: true, respond: respond)
        let meter = HTTPMeter()
        let server = try serve(meter: meter, { $0.routes.insert(data, at: 0) }, respond: respond)
        func ask(from host: UInt8) throws -> (client: RawHTTPClient, status: Int) {
            let client = try server.connect(receiveBuffer: 4096, from: host)
            client.send(Self.get)
            return (client, try client.readHead().status)
        }
        let first = try ask(from: 2)
        #expect(first.status == 200)
        #expect(try ask(from: 2).status == 503)
        #expect(try server.connect(from: 2).request("/data").text.hasPrefix("{\"error\": "))
        let others = try (3...6).map { try ask(from: UInt8($0)) }
        #expect(others.map(\.status) == [200, 200, 200, 200])
        let last = try ask(from: 7)
        #expect(last.status == 200)
        eventually("the end of a response that nobody reads") { meter.current.requestsInFlight == 5 }
        withExtendedLifetime((first, others, last)) {}
    }

    @Test func `Readers that take all places give way to another address`() throws {
        let limit = RequestLimit(
            4, perClient: 2, waiting: 4, patience: .seconds(60), eviction: .slowestReader, rejection: .busy("too many"))
        // Two of them fit into the unsent bytes of an address.
        let body = HTTPBody.bytes([UInt8](repeating: 7, count: 6_000_000))
        let meter = HTTPMeter()
        let server = try serve(limit: limit, meter: meter) { request in
            request.path == "/" ? HTTPResponse(status: 200, body: body) : echo(request)
        }
        let readers = try [2, 2, 3, 3].map { try server.connect(receiveBuffer: 4096, from: $0) }
        for client in readers {
            client.send(Self.get)
            #expect(try client.readHead().status == 200)
        }
        #expect(limit.count == 4)
        #expect(try server.connect(from: 4).request("/other").text == "GET|/other|")
        eventually("the end of one that does not read, and of the other request") {
            meter.current.responses[200] == 2 && meter.current.requestsInFlight == 3
        }
        withExtendedLifetime(readers) {}
    }

    @Test func `An address that fills the turns does not delay another's`() throws {
        let turns = RequestLimit(1, perClient: 1, patience: .seconds(60), rejection: .busy("too many"))
        let gate = Gate()
        let paths = Monitor<[String]>([])
        let server = try serve {
            $0.routes = [
                Route("", isFolder: true, turns: turns) { request in
                    paths.change { $0.append(request.path) }
                    gate.wait()
                    return echo(request)
                }
            ]
        } respond: {
            echo($0)
        }
        func ask(_ path: String, from host: UInt8) throws -> RawHTTPClient {
            let count = turns.count
            let client = try server.connect(from: host)
            client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
            eventually("the request is under way") { turns.count == count + 1 }
            return client
        }
        var clients = try (0..<3).map { _ in try ask("/many", from: 2) }
        clients.append(try ask("/one", from: 3))
        for _ in 0..<4 { gate.open() }
        for client in clients { #expect(try client.readResponse().status == 200) }
        #expect(paths.read { $0 } == ["/many", "/one", "/many", "/many"])
    }

    @Test func `Listeners of an address that takes all places give way to another address`() throws {
        let limit = RequestLimit(3, perClient: 3, eviction: .oldest, rejection: .busy("too many", retryAfter: 10))
        let ended = Monitor<[Int]>([])
        let count = Mutex(0)
        let server = try serve(limit: limit) { _ in
            let index = count.withLock { count in
                count += 1
                return count
            }
            let stream = HTTPStream(
                greeting: Array("hi".utf8), next: { ended.wait { $0.contains(index) ? [] : nil } ?? [] },
                end: { ended.change { $0.append(index) } })
            return HTTPResponse(status: 200, body: .stream(stream))
        }
        func listen(from host: UInt8) throws -> (client: RawHTTPClient, status: Int) {
            let client = try server.connect(from: host)
            client.send(Self.get)
            return (client, try client.readHead().status)
        }
        let first = try (0..<3).map { _ in try listen(from: 2) }
        #expect(first.map(\.status) == [200, 200, 200])
        #expect(try listen(from: 2).status == 503)
        let other = try listen(from: 3)
        #expect(other.status == 200)
        #expect(try first[0].client.read(upTo: "0\r\n\r\n").hasPrefix("2\r\nhi"))
        #expect(ended.read { $0 }.contains(1) && limit.count == 3)
    }

    @Test func `A header that is not complete in time ends the connection even if bytes keep coming`() throws {
        let server = try serve(respond: echo)
        let clients = try ["", "GET", "GET / HTTP/1.1\r\nX: "].map { beginning in
            let client = try server.connect()
            client.send(beginning)
            return client
        }
        #expect(try server.connect().request("/").status == 200)
        server.sweep(after: .seconds(8))
        // An occasional byte keeps libmicrohttpd's own time-out from expiring.
        for client in clients.dropFirst() { #expect(client.send("x")) }
        server.sweep(after: .seconds(11))
        for client in clients { #expect(try client.readToEnd().isEmpty) }
        #expect(try server.connect().request("/").status == 200)
    }

    @Test func `An idle connection is closed after a minute`() throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        #expect(try client.request("/").status == 200)
        server.sweep(after: .seconds(61))
        #expect(try client.readToEnd().isEmpty)
    }

    /// 20 MB have ten seconds, plus one for each 64 KiB.
    @Test func `A client that reads too slowly is disconnected`() throws {
        let meter = HTTPMeter()
        let server = try serve(meter: meter) { _ in HTTPResponse(status: 200, body: Self.large) }
        let clients = try [2, 3].map { try server.connect(receiveBuffer: 4096, from: $0) }
        for client in clients {
            client.send(Self.get)
            try client.awaitBytes()
        }
        server.sweep(after: .seconds(310))
        #expect(try clients[0].readResponse().body.count == 20_000_000)
        server.sweep(after: .seconds(320))
        eventually("the end of the slow request") { meter.current.requestsInFlight == 0 }
        #expect(try clients[1].readToEnd().count < 20_000_000)
    }

    @Test func `Stopping the server ends even when many clients leave together`() throws {
        for count in 124...132 {
            let server = try serve(respond: echo)
            let clients = try (0..<count).map { try server.connect(from: UInt8(1 + $0 % 2)) }
            for client in clients { #expect(try client.request("/").status == 200) }
            for client in clients { client.close() }
            server.stop(within: .seconds(60))
        }
    }

    @Test func `The target, the header and the number of fields may all reach their limits at once`() throws {
        let own = String(repeating: "z", count: 700)
        let server = try serve { request in
            HTTPResponse(
                status: 200, headers: [("X-Configured", String(repeating: "y", count: 4096)), ("X-Own", own)],
                body: .bytes(Array(request.query.utf8)))
        }
        let query = String(repeating: "q", count: 8190)
        let client = try server.connect()
        for _ in 0..<3 {
            // Host is one of the hundred.
            let fields = (1..<100).map { "X-\($0): " + String(repeating: "z", count: $0 < 99 ? 70 : 300) }
            let response = try client.request("/?" + query, headers: fields)
            #expect(response.status == 200)
            #expect(response.text == query)
        }
        #expect(try client.request("/", headers: (1...100).map { "X-\($0): z" }).status == 431)
    }
}

extension HTTPServer {
    /// Ends what is overdue, as if this much time had passed.
    func sweep(after time: Duration) { service.connections.sweep(at: monotonicTime() + time) }
}
