import Testing

@testable import HTTPServer

@Suite struct RequestPermitsTests {
    private static let one = PeerAddress(bytes: [10, 0, 0, 1]).client
    private static let two = PeerAddress(bytes: [10, 0, 0, 2]).client
    private static let three = PeerAddress(bytes: [10, 0, 0, 3]).client

    private func permit(
        _ socket: Int32, _ client: [UInt8], at time: Int64 = 0, weight: Int = 1
    ) -> RequestPermits.Permit {
        .init(socket: socket, client: client, since: CoarseTime(milliseconds: time), weight: weight)
    }

    /// Acquires permits for connections 0, 1, 2, … of these addresses, in that order.
    private func acquired(_ clients: [[UInt8]], limit: Int) -> RequestPermits {
        let permits = RequestPermits(limit: limit)
        for (index, client) in clients.enumerated() {
            let admission = permits.acquire(permit(Int32(index), client, at: Int64(index))) { _ in false }
            #expect(admission == .granted(insteadOf: []))
        }
        return permits
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        /// Who has a place, the oldest first; all are taken.
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
            Case(name: "the last place", clients: [one], newcomer: two),
            Case(name: "the last place, slow", clients: [one], newcomer: two, slow: [0], evicted: 0),
            Case(
                name: "who has most, though another is slow", clients: [two, one, one, one], newcomer: three, slow: [0],
                evicted: 1),
        ]
    }

    @Test(arguments: Case.all) func someoneMakesRoom(_ scenario: Case) {
        let permits = acquired(scenario.clients, limit: scenario.clients.count)
        let admission = permits.acquire(permit(99, scenario.newcomer, at: 99)) { scenario.slow.contains($0.socket) }
        switch admission {
        case .granted(let evicted): #expect(evicted.map(\.socket) == scenario.evicted.map { [$0] })
        case .denied: #expect(scenario.evicted == nil)
        }
    }

    @Test func aPermitIsFreeAgain() {
        let permits = acquired([Self.one, Self.one], limit: 2)
        #expect(permits.acquire(permit(2, Self.one)) { _ in false } == .denied)
        permits.release(socket: 2)
        #expect(permits.acquire(permit(2, Self.one)) { _ in false } == .denied)
        permits.release(socket: 0)
        #expect(permits.acquire(permit(2, Self.one)) { _ in false } == .granted(insteadOf: []))
    }

    @Test func withoutALimitThereIsRoom() {
        let permits = RequestPermits(limit: 0)
        for socket in 0..<1000 {
            #expect(permits.acquire(permit(Int32(socket), Self.one)) { _ in true } == .granted(insteadOf: []))
        }
    }

    /// What is heavy takes the room of several; nothing is heavier than all.
    @Test func weightsAreShared() {
        let permits = RequestPermits(limit: 10)
        for socket in 0..<10 as Range<Int32> {
            #expect(permits.acquire(permit(socket, Self.one, at: Int64(socket))) { _ in false } != .denied)
        }
        func acquire(_ socket: Int32, _ client: [UInt8], _ weight: Int) -> [Int32]? {
            let admission = permits.acquire(permit(socket, client, at: 100, weight: weight)) { _ in false }
            guard case .granted(let evicted) = admission else { return nil }
            return evicted.map(\.socket)
        }
        #expect(acquire(20, Self.two, 4) == [0, 1, 2, 3])
        #expect(acquire(21, Self.two, 4) == nil, "nobody has more than it would")
        #expect(acquire(22, Self.one, 1) == nil)
        permits.release(socket: 20)
        #expect(acquire(23, Self.two, 4) == [])
        for socket in 4..<10 as Range<Int32> { permits.release(socket: socket) }
        permits.release(socket: 23)
        #expect(acquire(30, Self.three, 1000) == [], "alone it has all")
        #expect(acquire(31, Self.one, 1) == [30])
    }

    /// Two addresses that ask again and again have half of the permits each.
    @Test func permitsAreShared() {
        let permits = acquired(Array(repeating: Self.one, count: 40), limit: 40)
        var own: Set<Int32> = []
        for socket in 100..<Int32(200) {
            switch permits.acquire(permit(socket, Self.two, at: Int64(socket)), isSlow: { _ in false }) {
            case .granted(let evicted):
                #expect(evicted.map(\.client) == [Self.one])
                own.insert(socket)
            case .denied: break
            }
        }
        #expect(own.count == 20)
    }

    @Test func anIPv6NetworkIsOneClient() {
        func address(_ last: UInt8, network: UInt8 = 1) -> PeerAddress {
            PeerAddress(bytes: [0x20, 1, 0x0D, 0xB8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, last])
        }
        #expect(address(1).client == address(2).client)
        #expect(address(1).client != address(1, network: 2).client)
        #expect(address(1).description == "2001:db8:0:1::1")
        let mapped = PeerAddress(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1])
        #expect(mapped.client == Self.one)
        #expect(mapped.description == "10.0.0.1")
        #expect(PeerAddress(bytes: []).client != PeerAddress(bytes: [0, 0, 0, 0]).client)
    }
}
