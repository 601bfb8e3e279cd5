internal import Synchronization
public import System

/// Settings by which the server handles a request.
public struct HTTPHandling: Sendable {
    /// Counted by `HTTPServerConfiguration.meter`.
    public var isMetered = false
    /// Nil: it needs no permit.
    public var permits: RequestPermits?
    /// Of its permit.
    public var weight = 1
    /// Where its response is made; nil: on the serving thread, which must be fast and must not block.
    public var queue: WorkQueue?
    /// For the queue to have made the response.
    public var timeLimit = Duration.seconds(60)
    /// The refusal when the queue has not, or is full.
    public var overdue = HTTPRefusal.busy("too much to do at once")

    public init() {}
}

/// Permits for requests that are expensive to make or to keep until they are read: acquired before the work, released
/// when the request is over. See `FairShares`.
public final class RequestPermits: Sendable {
    /// The refusal of a request without a permit.
    let refusal: HTTPRefusal
    private let isLimited: Bool
    private let shares: Mutex<FairShares>

    /// - Parameter limit: the sum of the weights; 0 = none.
    public init(limit: Int, refusal: HTTPRefusal = .busy("too many requests for this path at once")) {
        isLimited = limit > 0
        shares = Mutex(FairShares(limit: limit))
        self.refusal = refusal
    }

    /// See `FairShares.acquire`.
    func acquire(_ share: FairShares.Share, isSlow: (FairShares.Share) -> Bool) -> [FairShares.Share]? {
        guard isLimited else { return [] }
        return shares.withLock { $0.acquire(share, isSlow: isSlow) }
    }

    /// Nothing happens when the connection has none.
    func release(socket: Int32) { shares.withLock { $0.release(socket: socket) } }
}

/// The shares that the clients hold of something scarce.
///
/// When there is no room, the client that holds most loses shares to a client that would still hold less, the oldest
/// first, so slow and greedy clients hurt only their own address. Otherwise only a slow client makes room.
struct FairShares: Sendable {
    struct Share: Sendable, Equatable {
        /// Of the connection, which has one share at a time.
        var socket: Int32
        /// `IPAddress.client`.
        var client: [UInt8]
        var since: Duration
        var weight = 1
        /// Shares of one thing take its room once; nil: of a thing of its own.
        var thing: Int?
    }

    private let limit: Int
    /// The most that one share takes.
    private let largest: Int
    private var shares: [Share] = []
    private(set) var used = 0
    private var peak = Peak()

    /// - Parameter largest: what a heavier share counts as; nil: all.
    init(limit: Int, largest: Int? = nil) {
        self.limit = limit
        self.largest = largest ?? limit
    }

    /// Counts the share until `release`.
    ///
    /// - Parameter isSlow: whether a client reads too slowly; not asked while there is room.
    /// - Returns: those that have to make room, which are released; nil: there is none.
    mutating func acquire(_ share: Share, isSlow: (Share) -> Bool) -> [Share]? {
        var share = share
        let first = holder(of: share.thing)
        share.weight = first?.weight ?? min(share.weight, largest)
        var victims: [Share] = []
        if first == nil, used + share.weight > limit {
            var next = self
            guard let found = next.makeRoom(for: share, isSlow) else { return nil }
            victims = found
            self = next
        }
        shares.append(share)
        if first == nil { used += share.weight }
        peak.raise(to: used)
        return victims
    }

    /// Nothing happens when the connection has none.
    mutating func release(socket: Int32) {
        guard let index = shares.firstIndex(where: { $0.socket == socket }) else { return }
        let share = shares.remove(at: index)
        if holder(of: share.thing) == nil { used -= share.weight }
    }

    /// Whether so much has been released since the last time that the allocator should give it back to the system.
    mutating func hasShrunk() -> Bool { peak.hasHalved(to: used, from: limit / 2) }

    /// All holders of a thing have the weight of the first: what they differ by must not stay when the last one releases.
    private func holder(of thing: Int?) -> Share? { thing.flatMap { thing in shares.first { $0.thing == thing } } }

    private mutating func makeRoom(for share: Share, _ isSlow: (Share) -> Bool) -> [Share]? {
        var held = Dictionary(shares.map { ($0.client, $0.weight) }, uniquingKeysWith: +)
        let wanted = held[share.client, default: 0] + share.weight
        let order = shares.sorted { [held] in (-held[$0.client]!, $0.since) < (-held[$1.client]!, $1.since) }
        var victims: [Share] = []
        for candidate in order where held[candidate.client]! > wanted || isSlow(candidate) {
            release(socket: candidate.socket)
            held[candidate.client]! -= candidate.weight
            victims.append(candidate)
            if used + share.weight <= limit { return victims }
        }
        return nil
    }
}

/// The most of something since it last fell to half of that.
struct Peak: Sendable {
    private var most = 0

    mutating func raise(to count: Int) { most = max(most, count) }

    /// Whether the count has fallen to half of a peak of at least `least`; true once for each fall.
    mutating func hasHalved(to count: Int, from least: Int) -> Bool {
        guard most >= least, count <= most / 2 else { return false }
        most = count
        return true
    }
}

/// Counts metered requests and failed handshakes; any thread.
public final class HTTPMeter: Sendable {
    private let state: Mutex<HTTPStatistics>

    /// - Parameter statuses: counted from 0 on; another status is there from its first response on.
    public init(statuses: [Int] = []) {
        state = Mutex(HTTPStatistics(responses: Dictionary(uniqueKeysWithValues: statuses.map { ($0, 0) })))
    }

    func requestStarted() { state.withLock { $0.requestsInFlight += 1 } }

    /// Call exactly once per `requestStarted`, however the request ended. The status is that of its response, if it got
    /// one.
    func requestFinished(status: Int?) {
        state.withLock { statistics in
            statistics.requestsInFlight -= 1
            if let status { statistics.responses[status, default: 0] += 1 }
        }
    }

    func countTLSHandshakeFailure() { state.withLock { $0.tlsHandshakeFailures += 1 } }

    public var current: HTTPStatistics { state.withLock { $0 } }
}

/// The counts of an `HTTPServer`: its metered requests, and the handshakes that failed.
public struct HTTPStatistics: Sendable, Equatable {
    /// Requests under way: asked in the route closure, this includes the request that it answers.
    public var requestsInFlight = 0
    /// Responses since the start, by status.
    public var responses: [Int: Int] = [:]
    /// Since the start, of all connections.
    public var tlsHandshakeFailures = 0
}
