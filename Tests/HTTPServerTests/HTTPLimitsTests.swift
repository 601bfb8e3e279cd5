import Glibc
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct HTTPLimitsTests {
    /// Too much for the kernel's buffers.
    private static let large = HTTPBody.pieces(
        (0..<400).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 50_000) })

    private static let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func metersOnlyWhatItIsAskedTo() throws {
        let server = try serve(
            { $0.meter { $0 == "/metrics" } },
            respond: { request in
                request.path == "/metrics"
                    ? HTTPResponse(status: 200, line: "ok") : HTTPResponse(status: 404, line: "no")
            })
        let client = try server.connect()
        for path in ["/metrics", "/metrics?x", "/other", "/metrics"] { _ = try client.request(path) }
        eventually("the end of the last request") { server.statistics.requestsInFlight == 0 }
        #expect(server.statistics == HTTPStatistics(requestsInFlight: 0, responses: [200: 3]))
    }

    @Test func aRequestSeesItselfInFlight() throws {
        let meter = HTTPMeter(statuses: [503, 200])
        let server = try serve(
            {
                $0.meter()
                $0.meter = meter
            },
            respond: { _ in HTTPResponse(status: 201, line: "\(meter.current.requestsInFlight)") })
        #expect(meter.current.responses == [200: 0, 503: 0])
        #expect(try server.connect().request("/").text == "1\n")
        eventually("its end") { meter.current.requestsInFlight == 0 }
        #expect(meter.current.responses == [200: 0, 201: 1, 503: 0])
    }

    @Test func slowLorisConnectionsAreHungUpOnAndHarmNobody() throws {
        let server = try serve({ $0.limits.requestTimeout = .seconds(2) }, respond: echo)
        let loris = try (0..<200).map { _ in try server.connect() }
        for client in loris { client.send("GET / HTTP/1.1\r\nX: ") }
        let fast = try server.connect()
        var open = loris
        let deadline = monotonicTime() + .seconds(30)
        // A byte now and then would keep libmicrohttpd's own time-out from ever passing.
        while !open.isEmpty, monotonicTime() < deadline {
            #expect(try fast.request("/").status == 200)
            open = open.filter { $0.send("x") }
        }
        #expect(open.isEmpty)
        #expect(try fast.request("/").status == 200)
    }

    @Test func aConnectionWithoutRequestIsHungUpOn() throws {
        let server = try serve({ $0.limits.requestTimeout = .milliseconds(100) }, respond: echo)
        #expect(try server.connect().readToEnd().isEmpty)
    }

    @Test func anIdleConnectionIsHungUpOn() throws {
        let server = try serve({ $0.limits.idleTimeout = .milliseconds(100) }, respond: echo)
        let client = try server.connect()
        #expect(try client.request("/").status == 200)
        #expect(try client.readToEnd().isEmpty)
    }

    @Test func aSlowReaderIsHungUpOn() throws {
        let server = try serve(
            {
                $0.limits.responseTimeout = .milliseconds(200)
                $0.limits.minimumRate = 1 << 30
                $0.meter()
            }, respond: { _ in HTTPResponse(status: 200, body: Self.large) })
        let client = try server.connect(receiveBuffer: 4096)
        client.send(Self.get)
        try client.awaitBytes()
        eventually("its end") { server.statistics.requestsInFlight == 0 }
        #expect(try client.readToEnd().count < 20_000_000)
    }

    /// The rate that a reader has to keep gives a large answer more time.
    @Test func aLargeAnswerHasMoreTime() throws {
        let server = try serve(
            {
                $0.limits.responseTimeout = .milliseconds(50)
                $0.limits.minimumRate = 100_000
                $0.meter()
            }, respond: { _ in HTTPResponse(status: 200, body: Self.large) })
        let client = try server.connect(receiveBuffer: 4096)
        client.send(Self.get)
        try client.awaitBytes()
        let start = monotonicTime()
        while monotonicTime() - start < .milliseconds(300) { usleep(1000) }
        #expect(try client.readAnswer().body.count == 20_000_000)
    }

    /// Far more than one turn of a loop takes at once, and exactly as many as some loops take.
    @Test(arguments: 124...132) func requestsThatComeTogetherAreAllAnswered(_ count: Int) throws {
        let entered = try WakePipe()
        let gate = try WakePipe()
        let server = try serve { request in
            if request.path == "/gate" {
                entered.wake()
                _ = gate.wait(.seconds(30))
            }
            return echo(request)
        }
        let clients = try (0..<count).map { _ in try server.connect() }
        for client in clients { #expect(try client.request("/").status == 200) }
        let holder = try server.connect()
        holder.send("GET /gate HTTP/1.1\r\nHost: x\r\n\r\n")
        let isHeld = entered.wait(.seconds(30))
        #expect(isHeld)
        for client in clients { client.send(Self.get) }
        gate.wake()
        for client in [holder] + clients { #expect(try client.readAnswer().status == 200) }
    }

    @Test func stopEndsAlthoughClientsLeaveTogether() throws {
        for count in 124...132 {
            let server = try serve(respond: echo)
            let clients = try (0..<count).map { _ in try server.connect() }
            for client in clients { #expect(try client.request("/").status == 200) }
            for client in clients { client.close() }
            server.stop(within: .seconds(60))
        }
    }

    /// The end of a client that comes together with its last bytes is noticed at once, not when it is overdue.
    @Test func aClientThatLeavesAtOnceIsForgotten() throws {
        let server = try serve(respond: echo)
        for _ in 0..<50 {
            let client = try server.connect()
            client.send("GET / HTTP/1.1\r\nHost: x\r\n")
            client.endSending()
            #expect(try client.readToEnd().isEmpty)
        }
    }

    @Test func connectionsAreLimited() throws {
        let server = try serve(
            {
                $0.limits.maximumConnections = 10
                $0.limits.maximumConnectionsPerAddress = 0
            }, respond: echo)
        let clients = try (0..<10).map { _ in try server.connect() }
        for client in clients { #expect(try client.request("/").status == 200) }
        #expect(throws: RawHTTPClient.Failure.self) { try server.connect().request("/") }
        clients[0].close()
        eventually("room") { (try? server.connect().request("/"))?.status == 200 }
        for client in clients.dropFirst() { #expect(try client.request("/").status == 200) }
    }

    @Test func connectionsOfAnAddressAreLimited() throws {
        let server = try serve({ $0.limits.maximumConnectionsPerAddress = 3 }, respond: echo)
        let clients = try (0..<3).map { _ in try server.connect() }
        for client in clients { #expect(try client.request("/").status == 200) }
        #expect(throws: RawHTTPClient.Failure.self) { try server.connect().request("/") }
        clients[1].abort()
        eventually("room") { (try? server.connect().request("/"))?.status == 200 }
    }

    @Test(arguments: [
        (100, 200), (4000, 200), (8191, 200), (8192, 200), (8193, 414), (15_000, 414), (30_000, 414), (64_000, 414),
    ]) func targetsAreLimited(_ bytes: Int, _ status: Int) throws {
        let server = try serve(respond: echo)
        let client = try server.connect()
        let answer = try client.request("/?" + String(repeating: "a", count: bytes - 2))
        #expect(answer.status == status)
        #expect(try server.connect().request("/").status == 200)
    }

    @Test(arguments: [
        (100, 200), (8000, 200), (12_000, 200), (16_000, 200), (16_500, 431), (20_000, 431), (64_000, 431),
        (1_000_000, 431),
    ])
    func headersAreLimited(_ bytes: Int, _ status: Int) throws {
        let server = try serve(respond: echo)
        let one = try? server.connect().request("/", headers: ["X: " + String(repeating: "x", count: bytes)])
        // When the server ends the connection while more is coming, the answer can be lost with it.
        #expect(one?.status == status || one == nil && bytes >= 64_000)
        let many = try? server.connect().request("/", headers: Array(repeating: "X-Y: 12345678", count: bytes / 15))
        #expect([status, 431].contains(many?.status) || many == nil && bytes >= 64_000)
        #expect(try server.connect().request("/").status == 200)
    }

    /// A target, a header and fields that are all as long as they may be, with an answer whose header is long.
    @Test func theLimitsHoldTogether() throws {
        let server = try serve { request in
            HTTPResponse(
                status: 200, headers: [("X-Long", String(repeating: "y", count: 700))],
                body: .bytes(Array(request.query.utf8)))
        }
        let query = String(repeating: "q", count: 8190)
        let client = try server.connect()
        for _ in 0..<3 {
            // Host is one of the hundred.
            let fields = (1..<100).map { "X-\($0): " + String(repeating: "z", count: $0 < 99 ? 70 : 300) }
            let answer = try client.request("/?" + query, headers: fields)
            #expect(answer.status == 200)
            #expect(answer.text == query)
        }
        #expect(try client.request("/", headers: (1...100).map { "X-\($0): z" }).status == 431)
    }
}
