internal import Synchronization

/// Counts metered requests and gives permits for them; any thread.
public final class HTTPMeter: Sendable {
    private let limit: Int
    private let counts: Mutex<HTTPStatistics>

    /// - Parameters:
    ///   - limit: the most requests under way at once, those included whose client reads slowly; one more is answered
    ///     with 503. 0 = no limit.
    ///   - statuses: counted from 0 on; another status is there from its first answer on.
    public init(limit: Int = 0, statuses: [Int] = []) {
        self.limit = limit
        counts = Mutex(HTTPStatistics(answers: statuses.sorted().map { .init(status: $0, count: 0) }))
    }

    /// Counts a request in. False when the limit is passed; it counts as under way all the same, until `end`.
    func begin() -> Bool {
        counts.withLock { counts in
            counts.requestsInFlight += 1
            return limit == 0 || counts.requestsInFlight <= limit
        }
    }

    /// To be called once for each `begin`, however the request ended. The status is that of its answer, if it got one.
    func end(status: Int?) {
        counts.withLock { counts in
            counts.requestsInFlight -= 1
            guard let status else { return }
            // A handful, found faster by looking through than by hashing.
            let place = counts.answers.firstIndex { $0.status >= status } ?? counts.answers.endIndex
            if place == counts.answers.endIndex || counts.answers[place].status != status {
                counts.answers.insert(.init(status: status, count: 0), at: place)
            }
            counts.answers[place].count += 1
        }
    }

    public var current: HTTPStatistics {
        counts.withLock { $0 }
    }
}
