import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct RequestLimitTests {
    private final class Holder: RequestLimit.Holder {
        let client: [UInt8]
        private let state: Mutex<(lag: Duration?, hasGivenWay: Bool)>

        init(_ client: UInt8, lag: Duration? = nil) {
            self.client = [10, 0, 0, client]
            state = Mutex((lag, false))
        }

        var hasGivenWay: Bool { state.withLock(\.hasGivenWay) }
        func lag(at now: Duration) -> Duration? { state.withLock(\.lag) }
        func fallBehind() { state.withLock { $0.lag = .seconds(1) } }
        func giveWay() { state.withLock { $0.hasGivenWay = true } }
    }

    private static let busy = HTTPResponse.busy("too many")

    @Test func `An amount that exceeds the limit is admitted only while nothing else is`() {
        let limit = RequestLimit(100, perClient: 50, rejection: Self.busy)
        let large = limit.take(120, for: Holder(1))
        #expect(large != nil && limit.take(for: Holder(1)) == nil && limit.take(for: Holder(2)) == nil)
        large?.giveBack()
        #expect(limit.take(50, for: Holder(1)) != nil && limit.take(for: Holder(1)) == nil)
        #expect(limit.take(50, for: Holder(2)) != nil && limit.take(for: Holder(3)) == nil)
    }

    /// Starts threads that take a place for each client in order, and tell when they have it.
    private func queue(
        _ clients: [UInt8], at limit: RequestLimit, _ taken: Monitor<[UInt8]>, _ gate: Gate
    ) throws -> [ServiceThread] {
        try clients.map { client in
            let before = limit.count
            let thread = try ServiceThread(name: "request") {
                let permit = limit.take(for: Holder(client))
                taken.change { $0.append(client) }
                gate.wait()
                permit?.giveBack()
            }
            eventually("the request is under way") { limit.count == before + 1 }
            return thread
        }
    }

    @Test func `A free place goes to the client with the fewest, and clients take turns`() throws {
        let limit = RequestLimit(2, perClient: 2, patience: .seconds(600), rejection: Self.busy)
        let taken = Monitor<[UInt8]>([])
        let gate = Gate()
        let threads = try queue([1, 1, 1, 1, 1, 2, 3, 3], at: limit, taken, gate)
        for count in 2..<8 {
            eventually("the next turn") { taken.read(\.count) == count }
            gate.open()
        }
        for _ in 0..<2 { gate.open() }
        for thread in threads { thread.join() }
        // Whichever of the two under way ends first, neither client waits for all of the first one's.
        let order = taken.read { $0 }
        #expect(order.prefix(3) == [1, 1, 2])
        #expect(try #require(order.firstIndex(of: 3)) <= 4 && #require(order.lastIndex(of: 3)) <= 6, "\(order)")
    }

    @Test func `As much as allowed waits, and a request that waits too long is rejected`() throws {
        let limit = RequestLimit(1, perClient: 1, waiting: 1, patience: .seconds(600), rejection: Self.busy)
        let taken = Monitor<[UInt8]>([])
        let gate = Gate()
        let threads = try queue([1, 2], at: limit, taken, gate)
        #expect(limit.take(for: Holder(3)) == nil)
        for _ in 0..<2 { gate.open() }
        for thread in threads { thread.join() }
        let impatient = RequestLimit(1, perClient: 1, patience: .milliseconds(1), rejection: Self.busy)
        let permit = impatient.take(for: Holder(1))
        #expect(permit != nil && impatient.take(for: Holder(2)) == nil && impatient.count == 1)
    }

    @Test func `The slowest reader of the client with the most gives way to another client`() {
        let limit = RequestLimit(4, perClient: 3, eviction: .slowestReader, rejection: Self.busy)
        let fast = Holder(1)
        let slow = Holder(1, lag: .seconds(1))
        let slowest = Holder(1, lag: .seconds(2))
        let other = Holder(2, lag: .seconds(3))
        let permits = [fast, slow, slowest, other].map { limit.take(for: $0) }
        #expect(permits.allSatisfy { $0 != nil })
        #expect(limit.take(for: Holder(1)) == nil, "nobody gives way to the same client")
        #expect(limit.take(for: Holder(3)) != nil)
        #expect([fast, slow, slowest, other].map(\.hasGivenWay) == [false, false, true, false])
        permits[2]?.giveBack()
        #expect(limit.count == 4, "its place is given back once")
    }

    @Test func `A request that waits gets the place of a reader that falls behind`() throws {
        let limit = RequestLimit(
            1, perClient: 1, patience: .seconds(600), eviction: .slowestReader, rejection: Self.busy)
        let reader = Holder(1)
        let permit = limit.take(for: reader)
        let taken = Monitor<[UInt8]>([])
        let gate = Gate()
        let threads = try queue([2], at: limit, taken, gate)
        #expect(permit != nil && taken.read { $0 }.isEmpty)
        reader.fallBehind()
        for thread in threads {
            gate.open()
            thread.join()
        }
        #expect(taken.read { $0 } == [2] && reader.hasGivenWay)
    }

    @Test func `Readers give way until a large response has room`() {
        let limit = RequestLimit(64, perClient: 16, eviction: .slowestReader, rejection: Self.busy)
        let readers = (1...4).map { Holder($0, lag: .seconds(Int($0))) }
        let permits = readers.map { limit.take(16, for: $0) }
        #expect(permits.allSatisfy { $0 != nil })
        #expect(limit.take(37, for: Holder(5)) != nil)
        #expect(readers.map(\.hasGivenWay) == [false, true, true, true])
    }

    @Test func `The oldest of the client with the most gives way to a client that has at least two fewer`() {
        let limit = RequestLimit(4, perClient: 3, eviction: .oldest, rejection: Self.busy)
        let holders = [1, 1, 1, 2].map { Holder($0) }
        let permits = holders.map { limit.take(for: $0) }
        #expect(permits.allSatisfy { $0 != nil })
        #expect(limit.take(for: Holder(1)) == nil && limit.take(for: Holder(3)) != nil)
        #expect(holders.map(\.hasGivenWay) == [true, false, false, false])
        #expect(limit.take(for: Holder(2)) == nil && limit.take(for: Holder(3)) == nil, "they would have as many")
    }
}
