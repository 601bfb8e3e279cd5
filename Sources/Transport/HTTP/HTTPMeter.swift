internal import Synchronization

/// Counts metered requests and gives permits for them. Called from the daemon's threads.
final class HTTPMeter: Sendable {
    private let limit: Int
    private let statistics = Mutex(HTTPStatistics())

    /// - Parameter limit: the most permits at once; 0 = no limit.
    init(limit: Int) {
        self.limit = limit
    }

    /// Counts a request in. False when the limit is passed; it counts as under way all the same, until `end`.
    func begin() -> Bool {
        statistics.withLock { statistics in
            statistics.requestsInFlight += 1
            return limit == 0 || statistics.requestsInFlight <= limit
        }
    }

    func answered(_ status: Int) {
        statistics.withLock { $0.answers[status, default: 0] += 1 }
    }

    /// To be called once for each `begin`, however the request ended.
    func end() {
        statistics.withLock { $0.requestsInFlight -= 1 }
    }

    var current: HTTPStatistics {
        statistics.withLock { $0 }
    }
}
