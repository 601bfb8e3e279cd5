import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System
@testable import WebConfiguration

@Suite struct HTTPConnectionsTests {
    private static let (one, two, three) = (client(1), client(2), client(3))

    private static func client(_ last: UInt8) -> [UInt8] { IPAddress(bytes: [10, 0, 0, last]).client }

    @Test func theClientWithTheMostMakesRoom() {
        var quota = ConnectionQuota(limit: 8, limitPerClient: 0)
        for _ in 0..<6 { quota.count(Self.one) }
        quota.count(Self.two)
        #expect(quota.admit(Self.one) == .admitted)
        quota.count(Self.one)
        #expect(quota.admit(Self.one) == .refused)
        #expect(quota.admit(Self.two) == .admittedInsteadOf(client: Self.one))
        #expect(quota.admit(Self.three) == .admittedInsteadOf(client: Self.one))
        quota.evict(Self.one)
        quota.count(Self.three)
        #expect(quota.admit(Self.one) == .refused)
        quota.release(Self.one, wasLeaving: true)
        quota.release(Self.one, wasLeaving: false)
        #expect(quota.admit(Self.one) == .admitted)
    }

    @Test func equalsMakeNoRoomForEachOther() {
        var quota = ConnectionQuota(limit: 4, limitPerClient: 0)
        for client in [Self.one, Self.one, Self.two, Self.two] { quota.count(client) }
        #expect(quota.admit(Self.one) == .refused)
        #expect(
            quota.admit(Self.three) == .admittedInsteadOf(client: Self.one)
                || quota.admit(Self.three) == .admittedInsteadOf(client: Self.two))
    }

    @Test(arguments: [(4096, 1024, 1024), (32, 1024, 28), (1, 1024, 1), (2, 1024, 2), (100, 0, 100), (100, 3, 3)])
    func aClientCannotHaveAll(_ limit: Int, _ wanted: Int, _ expected: Int) {
        var quota = ConnectionQuota(limit: limit, limitPerClient: wanted)
        #expect(quota.limitPerClient == expected)
        for _ in 0..<expected { quota.count(Self.one) }
        #expect(quota.admit(Self.one) == .refused)
    }

    /// Those that have to end still have a descriptor each.
    @Test func fewConnectionsGoBeyondTheLimit() {
        var quota = ConnectionQuota(limit: 1000, limitPerClient: 0)
        for _ in 0..<1000 { quota.count(Self.one) }
        var admitted = 0
        for number in 0..<200 {
            let client = Self.client(UInt8(2 + number))
            guard case .admittedInsteadOf(let other) = quota.admit(client) else { continue }
            quota.evict(other)
            quota.count(client)
            admitted += 1
        }
        #expect(admitted == ConnectionQuota.maximumLeaving)
    }

    /// At 64 KiB a second; what the client's kernel takes unread does not count.
    @Test(arguments: [
        (taken: 0, milliseconds: 999, isSlow: false), (0, 1000, true), (128, 1000, true), (191, 1000, true),
        (193, 1000, false), (193, 2000, true), (257, 2000, false),
    ])
    func aClientIsSlow(_ taken: Int, _ milliseconds: Int, _ isSlow: Bool) throws {
        var pair = [Int32](repeating: -1, count: 2)
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for socket in pair { close(socket) } }
        let connection = HTTPConnection(socket: pair[0], peer: IPAddress(bytes: [10, 0, 0, 1]), deadline: nil)
        func check() -> Bool {
            connection.sentBytes = taken * 1024 + connection.unacknowledgedBytes
            return connection.isSlow(since: .zero, minimumRate: 64 * 1024, now: .milliseconds(milliseconds))
        }
        // Nothing waits for the client.
        #expect(!check())
        try #require(unsafe send(pair[0], "unread", 6, 0) == 6)
        #expect(check() == isSlow)
    }

    @Test(arguments: [
        (64, 32), (100, 50), (129, 64), (256, 128), (300, 172), (1024, 896), (4224, 4096), (20_000, 4096),
    ])
    func descriptorsAreLeftForTheRest(_ openFiles: Int, _ expected: Int) {
        #expect(OpenFileLimit.room(for: 4096, openFiles: openFiles) == expected)
    }

    /// libmicrohttpd 0.9.75 locks up for good when connections that wait for its thread meet its limit.
    @Test func aCrowdThatWaitsForTheServingThreadHarmsNobody() throws {
        let entered = Gate()
        let gate = Gate()
        let server = try serve(
            { $0.limits.maximumConnections = 20 },
            respond: { request in
                if request.path == "/gate" {
                    entered.open()
                    gate.wait()
                }
                return echo(request)
            })
        let holder = try server.connect()
        holder.send("GET /gate HTTP/1.1\r\nHost: x\r\n\r\n")
        entered.wait()
        let crowd = try (0..<60).map { _ in try server.connect(from: 2) }
        let scraper = try server.connect(from: 3)
        // Accepted in this order: when this one has been seen, so have the others.
        #expect(try server.connect(from: 2).readToEnd().isEmpty)
        gate.open()
        #expect(try holder.readAnswer().status == 200)
        #expect(try scraper.request("/").status == 200)
        for client in crowd { client.close() }
        eventually("room") { (try? server.connect(from: 2).request("/"))?.status == 200 }
        let isStopped = server.stop(within: .seconds(5))
        #expect(isStopped)
    }

    @Test func aCrowdCostsItsOwnAddress() throws {
        let server = try serve({ $0.limits.maximumConnections = 20 }, respond: echo)
        let crowd = try (0..<40).map { try server.connect(from: $0 % 2 == 0 ? 2 : 3) }
        for host in 4...8 as ClosedRange<UInt8> {
            let clients = try (0..<2).map { _ in try server.connect(from: host) }
            for client in clients { #expect(try client.request("/").status == 200) }
        }
        for client in crowd { client.close() }
    }

    @Test(arguments: [false, true]) func theHeartbeatGoesThroughTheServingThread(withTLS: Bool) throws {
        let entered = Gate()
        let gate = Gate()
        let failures = Mutex(0)
        let certificates = try TestCertificates.shared()
        let tls = TLSConfiguration(
            certificate: try certificates.content("server-ec.pem"), key: try certificates.content("server-ec.key"),
            priority: TLSPriority().text(key: .ecdsa))
        let server = try serve(
            {
                $0.limits.heartbeatInterval = .milliseconds(10)
                if withTLS { $0.web.tls = tls }
                $0.onTLSHandshakeFailure = { _ in failures.withLock { $0 += 1 } }
            },
            respond: { request in
                entered.open()
                gate.wait()
                return echo(request)
            })
        eventually("beats") { server.heartbeats > 5 }
        guard !withTLS else {
            #expect(failures.withLock { $0 } == 0)
            return
        }
        let client = try server.connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        entered.wait()
        let stuck = server.heartbeats
        var watch = HeartbeatWatch(beats: stuck, at: .zero)
        for second in 1...30 { #expect(watch.look(beats: server.heartbeats, at: .seconds(second)) == .seconds(second)) }
        gate.open()
        #expect(try client.readAnswer().status == 200)
        eventually("more beats") { server.heartbeats > stuck + 5 }
        #expect(watch.look(beats: server.heartbeats, at: .seconds(31)) == .zero)
    }

    /// A process that was stopped (SIGSTOP, a suspended machine) has not been stuck.
    @Test func aLongLookCountsLittle() {
        var watch = HeartbeatWatch(beats: 7, at: .seconds(10))
        #expect(watch.look(beats: 7, at: .seconds(3600)) == HeartbeatWatch.interval)
        #expect(watch.look(beats: 8, at: .seconds(3601)) == .zero)
        #expect(watch.look(beats: 8, at: .seconds(3602)) == .seconds(1))
    }

    /// The end of the process does not wait for a route that never returns.
    @Test func stopLeavesAStuckThreadBehind() throws {
        let entered = Gate()
        let gate = Gate()
        let server = try serve(
            { $0.limits.timeToStop = .milliseconds(50) },
            respond: { request in
                entered.open()
                gate.wait()
                return echo(request)
            })
        let client = try server.connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        entered.wait()
        let isStopped = server.stop(within: .milliseconds(10))
        #expect(!isStopped)
        gate.open()
    }
}
