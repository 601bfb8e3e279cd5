internal import Synchronization

/// Counts metered requests and failed handshakes, and gives permits for requests; any thread.
public final class HTTPMeter: Sendable {
    private let state: Mutex<State>

    private struct State {
        var statistics: HTTPStatistics
        var places: RequestPlaces
    }

    /// - Parameters:
    ///   - limit: the most requests under way at once, those included whose client reads slowly; one more is answered
    ///     with 503, unless another one has to make room for it: see `RequestPlaces`. 0 = no limit.
    ///   - statuses: counted from 0 on; another status is there from its first answer on.
    public init(limit: Int = 0, statuses: [Int] = []) {
        let statistics = HTTPStatistics(answers: statuses.sorted().map { .init(status: $0, count: 0) })
        state = Mutex(State(statistics: statistics, places: RequestPlaces(limit: limit)))
    }

    /// Counts a request in, until `end`, whatever becomes of it.
    func begin(_ place: RequestPlaces.Place, isSlow: (RequestPlaces.Place) -> Bool) -> RequestPlaces.Admission {
        state.withLock { state in
            state.statistics.requestsInFlight += 1
            return state.places.take(place, isSlow: isSlow)
        }
    }

    /// To be called once for each `begin`, however the request ended. The status is that of its answer, if it got one.
    func end(socket: Int32, status: Int?) {
        state.withLock { state in
            state.statistics.requestsInFlight -= 1
            state.places.release(socket: socket)
            if let status { state.statistics.countAnswer(status: status) }
        }
    }

    func countTLSHandshakeFailure() {
        state.withLock { $0.statistics.tlsHandshakeFailures += 1 }
    }

    public var current: HTTPStatistics {
        state.withLock { $0.statistics }
    }
}

/// The counts of an `HTTPServer`: its metered requests, and the handshakes that failed.
public struct HTTPStatistics: Sendable, Equatable {
    /// Requests under way: asked in the route closure, this includes the request that it answers.
    public var requestsInFlight = 0
    /// Answers since the start, by ascending status.
    public var answers: [Answers] = []
    /// Since the start, of all connections.
    public var tlsHandshakeFailures = 0

    public struct Answers: Sendable, Equatable {
        public var status: Int
        public var count: Int

        public init(status: Int, count: Int) {
            self.status = status
            self.count = count
        }
    }

    public init(requestsInFlight: Int = 0, answers: [Answers] = []) {
        self.requestsInFlight = requestsInFlight
        self.answers = answers
    }

    fileprivate mutating func countAnswer(status: Int) {
        // A handful, found faster by looking through than by hashing.
        let place = answers.firstIndex { $0.status >= status } ?? answers.endIndex
        if place == answers.endIndex || answers[place].status != status {
            answers.insert(.init(status: status, count: 0), at: place)
        }
        answers[place].count += 1
    }
}

/// Who may be answered when many ask, and who makes room.
///
/// As long as there are places, everybody gets one. When all are taken, the address that has the most makes room for one
/// that has fewer, so that whoever reads slowly costs its own address and nobody else. Within an address, and between
/// those that have as many, only a slow reader makes room; else the request is refused.
struct RequestPlaces: Sendable {
    struct Place: Sendable, Equatable {
        /// Of the connection: one request at a time.
        var socket: Int32
        var peer: PeerAddress.Group
        var since: CoarseTime
    }

    enum Admission: Equatable {
        case admitted
        /// The connection of that place is to be hung up on.
        case admittedInsteadOf(Place)
        case refused
    }

    /// 0 = none.
    let limit: Int
    private var places: [Place] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// - Parameter isSlow: whether the client of a place reads too slowly; not asked while there is room.
    mutating func take(_ place: Place, isSlow: (Place) -> Bool) -> Admission {
        guard limit > 0, places.count >= limit else {
            if limit > 0 { places.append(place) }
            return .admitted
        }
        var counts: [PeerAddress.Group: Int] = [:]
        for taken in places { counts[taken.peer, default: 0] += 1 }
        let own = counts[place.peer] ?? 0
        // Of those that have the most places the one that has had its own for longest.
        let candidates = places.indices.sorted {
            (-counts[places[$0].peer]!, places[$0].since) < (-counts[places[$1].peer]!, places[$1].since)
        }
        for index in candidates where counts[places[index].peer]! > own + 1 || isSlow(places[index]) {
            let evicted = places[index]
            places[index] = place
            return .admittedInsteadOf(evicted)
        }
        return .refused
    }

    /// Nothing happens when the connection has none.
    mutating func release(socket: Int32) {
        guard let index = places.firstIndex(where: { $0.socket == socket }) else { return }
        places.swapAt(index, places.count - 1)
        places.removeLast()
    }
}
