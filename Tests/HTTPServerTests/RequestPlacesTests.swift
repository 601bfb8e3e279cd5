import Testing

@testable import HTTPServer

@Suite struct RequestPlacesTests {
    private static let one = PeerAddress(bytes: [10, 0, 0, 1]).client
    private static let two = PeerAddress(bytes: [10, 0, 0, 2]).client
    private static let three = PeerAddress(bytes: [10, 0, 0, 3]).client

    private func place(_ socket: Int32, _ client: [UInt8], at time: Int64 = 0) -> RequestPlaces.Place {
        .init(socket: socket, client: client, since: CoarseTime(milliseconds: time))
    }

    /// Takes places for connections 0, 1, 2, … of these addresses, in that order.
    private func taken(_ clients: [[UInt8]], limit: Int) -> RequestPlaces {
        var places = RequestPlaces(limit: limit)
        for (index, client) in clients.enumerated() {
            let admission = places.take(place(Int32(index), client, at: Int64(index))) { _ in false }
            #expect(admission == .admitted)
        }
        return places
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
        var places = taken(scenario.clients, limit: scenario.clients.count)
        let admission = places.take(place(99, scenario.newcomer, at: 99)) { scenario.slow.contains($0.socket) }
        switch admission {
        case .admittedInsteadOf(let evicted): #expect(evicted.socket == scenario.evicted)
        case .refused: #expect(scenario.evicted == nil)
        case .admitted: Issue.record("there was no room")
        }
    }

    @Test func aPlaceIsFreeAgain() {
        var places = taken([Self.one, Self.one], limit: 2)
        #expect(places.take(place(2, Self.one)) { _ in false } == .refused)
        places.release(socket: 2)
        #expect(places.take(place(2, Self.one)) { _ in false } == .refused)
        places.release(socket: 0)
        #expect(places.take(place(2, Self.one)) { _ in false } == .admitted)
    }

    @Test func withoutALimitThereIsRoom() {
        var places = RequestPlaces(limit: 0)
        for socket in 0..<1000 { #expect(places.take(place(Int32(socket), Self.one)) { _ in true } == .admitted) }
    }

    /// Two addresses that ask again and again have half of the places each.
    @Test func placesAreShared() {
        var places = taken(Array(repeating: Self.one, count: 40), limit: 40)
        var own: Set<Int32> = []
        for socket in 100..<Int32(200) {
            switch places.take(place(socket, Self.two, at: Int64(socket)), isSlow: { _ in false }) {
            case .admitted: Issue.record("there was no room")
            case .admittedInsteadOf(let evicted):
                #expect(evicted.client == Self.one)
                own.insert(socket)
            case .refused: break
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
