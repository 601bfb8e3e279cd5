internal import Synchronization

/// Counts metered requests and failed handshakes, and gives permits for requests; any thread.
public final class HTTPMeter: Sendable {
    private let state: Mutex<State>

    private struct State {
        var statistics: HTTPStatistics
        var places: RequestPlaces
    }

    /// - Parameters:
    ///   - limit: maximum requests in progress, slow clients included. Beyond it: 503, or another client loses its
    ///     place (`RequestPlaces`). 0 = no limit.
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

/// Decides which requests are served when there are more of them than places.
///
/// When all places are taken, the client with the most places loses one to a client that would still have fewer, so
/// slow clients hurt only their own address. Otherwise only a slow client loses its place; without one the request is
/// refused.
struct RequestPlaces: Sendable {
    struct Place: Sendable, Equatable {
        /// Of the connection: one request at a time.
        var socket: Int32
        /// `PeerAddress.client`.
        var client: [UInt8]
        var since: CoarseTime
    }

    enum Admission: Equatable {
        case admitted
        /// The connection of that place must be aborted.
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
        guard limit > 0 else { return .admitted }
        guard places.count >= limit else {
            places.append(place)
            return .admitted
        }
        let counts = Dictionary(places.map { ($0.client, 1) }, uniquingKeysWith: +)
        let own = counts[place.client, default: 0]
        func count(_ index: Int) -> Int { counts[places[index].client, default: 0] }
        // The clients with the most places first, and of their places the oldest.
        let order = places.indices.sorted { (-count($0), places[$0].since) < (-count($1), places[$1].since) }
        guard let index = order.first(where: { count($0) > own + 1 || isSlow(places[$0]) }) else { return .refused }
        defer { places[index] = place }
        return .admittedInsteadOf(places[index])
    }

    /// Nothing happens when the connection has none.
    mutating func release(socket: Int32) {
        guard let index = places.firstIndex(where: { $0.socket == socket }) else { return }
        places.swapAt(index, places.count - 1)
        places.removeLast()
    }
}
