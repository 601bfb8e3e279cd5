import Glibc
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct HTTPConnectionsTests {
    private static let one = client(1)
    private static let two = client(2)

    private static func client(_ last: UInt8) -> [UInt8] { IPAddress(bytes: [10, 0, 0, last]).client }

    @Test func `A quota has room for what exceeds it only where there is nothing else`() {
        var quota = Quota(limit: 100, limitPerClient: 50)
        func take(_ amount: Int, of client: [UInt8]) -> Bool { quota.take(amount, of: client) }
        let large = take(120, of: Self.one)
        #expect(large)
        let beside = [take(1, of: Self.one), take(1, of: Self.two)]
        #expect(beside == [false, false])
        quota.remove(120, of: Self.one)
        let own = [take(50, of: Self.one), take(1, of: Self.one)]
        #expect(own == [true, false])
        let all = [take(50, of: Self.two), take(1, of: Self.client(3))]
        #expect(all == [true, false])
        #expect(quota.total == 100 && quota.count(of: Self.one) == 50)
    }

    @Test(arguments: [
        (64, 32), (100, 50), (129, 64), (256, 128), (300, 172), (1024, 512), (20_000, 512),
    ])
    func `Descriptors are left for the rest of the program`(_ openFiles: Int, _ expected: Int) {
        #expect(OpenFileLimit.room(for: 512, openFiles: openFiles) == expected)
    }

    @Test func `Connections are limited, in all and of one address`() throws {
        let server = try serve {
            $0.limits.maximumConnections = 5
            $0.limits.maximumConnectionsPerClient = 3
        } respond: {
            echo($0)
        }
        let clients = try [2, 2, 2, 3, 3].map { try server.connect(from: $0) }
        for client in clients { #expect(try client.request("/").status == 200) }
        for host in [2, 3] as [UInt8] {
            #expect(throws: RawHTTPClient.Failure.self) { try server.connect(from: host).request("/") }
        }
        clients[1].abort()
        eventually("room") { (try? server.connect(from: 2).request("/"))?.status == 200 }
    }

    @Test func `An idle connection of the address with the most makes room`() throws {
        let server = try serve {
            $0.limits.maximumConnections = 20
            $0.limits.maximumConnectionsPerClient = 12
        } respond: {
            echo($0)
        }
        let crowd = try (0..<20).map { try server.connect(from: $0 < 12 ? 2 : 3) }
        for client in crowd { #expect(try client.request("/").status == 200) }
        for host in 4...7 as ClosedRange<UInt8> { #expect(try server.connect(from: host).request("/").status == 200) }
        // Only the first address has lost some, each of them one that had been idle longest.
        for client in crowd[12...] { #expect(try client.request("/").status == 200) }
        #expect(try crowd[11].request("/").status == 200)
        #expect(throws: RawHTTPClient.Failure.self) { try crowd[0].request("/") }
    }

    @Test func `A request under way is never ended to make room`() throws {
        let entered = Gate()
        let gate = Gate()
        let server = try serve {
            $0.limits.maximumConnections = 4
            $0.limits.maximumConnectionsPerClient = 4
        } respond: { request in
            entered.open()
            gate.wait()
            return echo(request)
        }
        let holders = try (0..<4).map { _ in try server.connect(from: 2) }
        for client in holders {
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            entered.wait()
        }
        #expect(try server.connect(from: 3).readToEnd().isEmpty)
        for client in holders {
            gate.open()
            _ = client
        }
        for client in holders { #expect(try client.readAnswer().status == 200) }
    }

    /// libmicrohttpd 0.9.75 locks up for good when it meets its own limit.
    @Test func `A crowd beyond all limits harms nobody, and the server stops`() throws {
        let server = try serve({ $0.limits.maximumConnections = 20 }, respond: echo)
        let crowd = try (0..<200).map { _ in try server.connect(from: 2) }
        #expect(try server.connect(from: 3).request("/").status == 200)
        for client in crowd { client.close() }
        eventually("room") { (try? server.connect(from: 2).request("/"))?.status == 200 }
        #expect(server.stop(within: .seconds(5)))
    }

    @Test func `A stop leaves a stuck thread behind`() throws {
        let entered = Gate()
        let gate = Gate()
        let server = try serve {
            $0.limits.timeToStop = .milliseconds(50)
        } respond: { request in
            entered.open()
            gate.wait()
            return echo(request)
        }
        let client = try server.connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        entered.wait()
        let isStopped = server.stop(within: .milliseconds(10))
        #expect(!isStopped)
        gate.open()
    }
}
