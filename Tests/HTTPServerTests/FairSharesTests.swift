import System
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct FairSharesTests {
    private static func client(_ last: UInt8) -> [UInt8] { IPAddress(bytes: [10, 0, 0, last]).client }

    private static let (one, two, three) = (client(1), client(2), client(3))

    private static func share(
        _ socket: Int32, _ client: [UInt8], at second: Int32 = 0, weight: Int = 1, of thing: Int? = nil
    ) -> FairShares.Share {
        .init(socket: socket, client: client, since: .seconds(second), weight: weight, thing: thing)
    }

    /// The sockets of those that make room; nil: there is none.
    private static func acquire(
        _ share: FairShares.Share, of shares: inout FairShares, slow: Set<Int32> = []
    ) -> [Int32]? {
        shares.acquire(share) { slow.contains($0.socket) }?.map(\.socket)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        /// Who has a share, the oldest first; all are taken.
        var clients: [[UInt8]]
        var newcomer: [UInt8]
        var slow: Set<Int32> = []
        /// Who makes room; nil: nobody.
        var evicted: Int32?
        var testDescription: String { name }

        static let all: [Case] = [
            Case(name: "one address", clients: [one, one, one], newcomer: one),
            Case(name: "one address, one slow reader", clients: [one, one, one], newcomer: one, slow: [1], evicted: 1),
            Case(name: "the slowest for longest", clients: [one, one, one], newcomer: one, slow: [1, 2], evicted: 1),
            Case(name: "another address", clients: [one, one, one], newcomer: two, evicted: 0),
            Case(name: "one that has fewer", clients: [two, one, one, one], newcomer: two, evicted: 1),
            Case(name: "one that has one fewer", clients: [two, one, one], newcomer: two),
            Case(name: "one that has as many", clients: [two, one], newcomer: two),
            Case(name: "nobody has more", clients: [one, two], newcomer: three),
            Case(name: "nobody has more, one is slow", clients: [one, two], newcomer: three, slow: [1], evicted: 1),
            Case(name: "the last share", clients: [one], newcomer: two),
            Case(name: "the last share, slow", clients: [one], newcomer: two, slow: [0], evicted: 0),
            Case(
                name: "who has most, though another is slow", clients: [two, one, one, one], newcomer: three, slow: [0],
                evicted: 1),
        ]
    }

    @Test(arguments: Case.all) func someoneMakesRoom(_ scenario: Case) {
        var shares = FairShares(limit: scenario.clients.count)
        for (index, client) in scenario.clients.enumerated() {
            #expect(Self.acquire(Self.share(Int32(index), client, at: Int32(index)), of: &shares) == [])
        }
        let evicted = Self.acquire(Self.share(99, scenario.newcomer, at: 99), of: &shares, slow: scenario.slow)
        #expect(evicted == scenario.evicted.map { [$0] })
    }

    @Test func aPermitIsFreeAgain() {
        let permits = RequestPermits(limit: 2)
        func acquire(_ socket: Int32) -> Bool { permits.acquire(Self.share(socket, Self.one)) { _ in false } != nil }
        #expect([acquire(0), acquire(1), acquire(2)] == [true, true, false])
        permits.release(socket: 2)
        #expect(!acquire(2))
        permits.release(socket: 0)
        #expect(acquire(2))
        let unlimited = RequestPermits(limit: 0)
        for socket in 0..<1000 {
            #expect(unlimited.acquire(Self.share(Int32(socket), Self.one)) { _ in true } == [])
        }
    }

    /// What is heavy takes the room of several; nothing is heavier than all.
    @Test func weightsAreShared() {
        var shares = FairShares(limit: 10)
        func acquire(_ socket: Int32, _ client: [UInt8], _ weight: Int) -> [Int32]? {
            Self.acquire(Self.share(socket, client, at: socket, weight: weight), of: &shares)
        }
        for socket in 0..<10 as Range<Int32> { #expect(acquire(socket, Self.one, 1) == []) }
        #expect(acquire(20, Self.two, 4) == [0, 1, 2, 3])
        #expect(acquire(21, Self.two, 4) == nil, "nobody has more than it would")
        #expect(acquire(22, Self.one, 1) == nil)
        shares.release(socket: 20)
        #expect(acquire(23, Self.two, 4) == [])
        for socket in 4..<10 as Range<Int32> { shares.release(socket: socket) }
        shares.release(socket: 23)
        #expect(acquire(30, Self.three, 1000) == [], "alone it has all")
        #expect(acquire(31, Self.one, 1) == [30])
    }

    /// Two addresses that ask again and again have half of the permits each.
    @Test func twoClientsHaveHalfEach() {
        var shares = FairShares(limit: 40)
        for socket in 0..<40 as Range<Int32> { _ = Self.acquire(Self.share(socket, Self.one), of: &shares) }
        let own = (100..<Int32(200)).filter { Self.acquire(Self.share($0, Self.two, at: $0), of: &shares) != nil }
        #expect(own.count == 20)
    }

    /// A scrape of an unchanged page has only its last piece of its own.
    @Test func oneThingCountsOnce() {
        var shares = FairShares(limit: 100, largest: 50)
        let page = [[UInt8](repeating: 7, count: 60)]
        for socket in 1...40 as ClosedRange<Int32> {
            let client = Self.client(UInt8(socket))
            let connection = HTTPConnection(socket: socket, peer: IPAddress(bytes: client), deadline: nil)
            let content = LargeContent(page + [[7]], on: connection)
            let share = Self.share(socket, client, weight: content.count, of: content.identity)
            #expect(Self.acquire(share, of: &shares) == [])
        }
        #expect(shares.used == 50)
        for socket in 1...39 as ClosedRange<Int32> { shares.release(socket: socket) }
        #expect(shares.used == 50)
        #expect(Self.acquire(Self.share(41, Self.one, weight: 1000, of: 1), of: &shares) == [])
        #expect(Self.acquire(Self.share(42, Self.two, weight: 1000, of: 2), of: &shares) == nil)
        shares.release(socket: 40)
        shares.release(socket: 41)
        #expect(shares.used == 0)
    }

    /// Scrapes of one page have last pieces of different lengths, and end in any order.
    @Test(arguments: [[1, 2, 3], [3, 2, 1], [2, 3, 1]] as [[Int32]])
    func sharesOfOneThingMayDifferInWeight(_ order: [Int32]) {
        var shares = FairShares(limit: 100)
        for socket in 1...3 as ClosedRange<Int32> {
            #expect(Self.acquire(Self.share(socket, Self.one, weight: 20 + Int(socket), of: 1), of: &shares) == [])
        }
        #expect(shares.used == 21)
        for socket in order { shares.release(socket: socket) }
        #expect(shares.used == 0)
    }

    /// Ending one of several responses with the same page makes no room: the others end as well, as far as their
    /// clients hold more.
    @Test func thingsOfSeveralClientsMakeRoomWhenAllSharesEnd() {
        func held() -> FairShares {
            var shares = FairShares(limit: 100)
            _ = Self.acquire(Self.share(1, Self.one, at: 1, weight: 60, of: 1), of: &shares)
            _ = Self.acquire(Self.share(2, Self.two, at: 2, weight: 60, of: 1), of: &shares)
            _ = Self.acquire(Self.share(3, Self.one, at: 3, weight: 30), of: &shares)
            return shares
        }
        var shares = held()
        #expect(Self.acquire(Self.share(9, Self.three, weight: 50, of: 2), of: &shares) == [1, 2])
        #expect(shares.used == 80)
        shares = held()
        #expect(Self.acquire(Self.share(9, Self.three, weight: 20), of: &shares) == [1, 3])
        #expect(shares.used == 80)
        shares = held()
        #expect(Self.acquire(Self.share(9, Self.three, weight: 70), of: &shares) == nil)
        #expect(Self.acquire(Self.share(9, Self.three, weight: 70), of: &shares, slow: [3]) == nil)
        #expect(shares.used == 90, "nothing is released in vain")
        #expect(Self.acquire(Self.share(10, Self.three, weight: 60, of: 1), of: &shares) == [])
        #expect(shares.used == 90)
    }

    @Test func muchThatIsReleasedIsNoticedOnce() {
        var shares = FairShares(limit: 100)
        var noticed: [Bool] = []
        for count in [1, 3] as [Int32] {
            for socket in 1...count { _ = Self.acquire(Self.share(socket, Self.one, weight: 30), of: &shares) }
            noticed.append(shares.hasShrunk())
            for socket in 1...count { shares.release(socket: socket) }
            noticed.append(shares.hasShrunk())
            noticed.append(shares.hasShrunk())
        }
        #expect(noticed == [false, false, false, false, true, false])
    }

    @Test func anIPv6NetworkIsOneClient() {
        func address(_ last: UInt8, network: UInt8 = 1) -> IPAddress {
            IPAddress(bytes: [0x20, 1, 0x0D, 0xB8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, last])
        }
        #expect(address(1).client == address(2).client)
        #expect(address(1).client != address(1, network: 2).client)
        #expect(address(1).description == "2001:db8:0:1::1")
        let mapped = IPAddress(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1])
        #expect(mapped.client == Self.one)
        #expect(mapped.description == "10.0.0.1")
        #expect(IPAddress(bytes: []).client != IPAddress(bytes: [0, 0, 0, 0]).client)
    }

    /// Readers of large responses that take nothing lose one to a reader at another address, which gets all of it.
    @Test func aReaderAtAnotherAddressIsServed() throws {
        let server = try serve { _ in HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 7, count: 30 << 20))) }
        let readers = try (0..<4).map { _ in try server.connect(receiveBuffer: 4096, from: 2) }
        let heads = try readers.map { reader in
            reader.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            return try reader.readHead().status
        }
        #expect(heads == [200, 200, 503, 503])
        #expect(try server.connect(from: 3).request("/").body.count == 30 << 20)
        #expect(((try? readers[0].readToEnd()) ?? []).count < 30 << 20)
    }
}
