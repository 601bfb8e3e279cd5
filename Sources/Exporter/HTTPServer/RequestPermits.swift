internal import Synchronization
public import System

/// Permits for requests that are expensive to make or to keep until they are read: acquired before the work, released
/// when the request is over.
///
/// When too much is taken, the client that has most loses permits to a client that would still have less, so slow and
/// greedy clients hurt only their own address. Otherwise only a slow client loses its permit; without one the request is
/// refused.
public final class RequestPermits: Sendable {
    struct Permit: Sendable, Equatable {
        /// Of the connection: one request at a time.
        var socket: Int32
        /// `PeerAddress.client`.
        var client: [UInt8]
        var since: CoarseTime
        var weight = 1
    }

    enum Admission: Equatable {
        /// The connections of the other permits must be aborted.
        case granted(insteadOf: [Permit])
        case denied
    }

    /// How a request without a permit is refused.
    let refusal: HTTPRefusal
    private let limit: Int
    private let permits = Mutex<[Permit]>([])

    /// - Parameter limit: the sum of the weights; 0 = none.
    public init(limit: Int, refusal: HTTPRefusal = .busy("too many requests for this path at once")) {
        self.limit = limit
        self.refusal = refusal
    }

    /// - Parameter isSlow: whether the client of a permit reads too slowly; not asked while there is room.
    func acquire(_ permit: Permit, isSlow: (Permit) -> Bool) -> Admission {
        guard limit > 0 else { return .granted(insteadOf: []) }
        var permit = permit
        permit.weight = min(permit.weight, limit)
        return permits.withLock { permits in
            guard let victims = Self.victims(of: permit, among: permits, limit: limit, isSlow) else { return .denied }
            if !victims.isEmpty { permits.removeAll { victims.contains($0) } }
            permits.append(permit)
            return .granted(insteadOf: victims)
        }
    }

    /// The permits that make room; nil when they cannot.
    private static func victims(
        of permit: Permit, among permits: [Permit], limit: Int, _ isSlow: (Permit) -> Bool
    ) -> [Permit]? {
        var room = limit - permits.reduce(0) { $0 + $1.weight }
        guard room < permit.weight else { return [] }
        var weights = Dictionary(permits.map { ($0.client, $0.weight) }, uniquingKeysWith: +)
        let wanted = weights[permit.client, default: 0] + permit.weight
        // The clients that have most first, and of their permits the oldest.
        let order = permits.sorted { [weights] in
            (-weights[$0.client]!, $0.since) < (-weights[$1.client]!, $1.since)
        }
        var victims: [Permit] = []
        for candidate in order where weights[candidate.client]! > wanted || isSlow(candidate) {
            victims.append(candidate)
            weights[candidate.client]! -= candidate.weight
            room += candidate.weight
            if room >= permit.weight { return victims }
        }
        return nil
    }

    /// Nothing happens when the connection has none.
    func release(socket: Int32) {
        permits.withLock { permits in
            guard let index = permits.firstIndex(where: { $0.socket == socket }) else { return }
            permits.swapAt(index, permits.count - 1)
            permits.removeLast()
        }
    }
}

/// How the server handles a request.
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
    /// How it is refused when the queue has not, or is full.
    public var overdue = HTTPRefusal.busy("too much to do at once")

    public init() {}
}
