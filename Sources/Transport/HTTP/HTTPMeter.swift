internal import Synchronization

/// Counts metered requests and gives permits for them. Called from the daemon's threads.
final class HTTPMeter: Sendable {
    private let limit: Int
    private let counts = Mutex(Counts())

    private struct Counts {
        var inFlight = 0
        /// A handful of statuses, found faster by looking through than by hashing.
        var answers: [(status: Int, count: Int)] = []
    }

    /// - Parameter limit: the most permits at once; 0 = no limit.
    init(limit: Int) {
        self.limit = limit
    }

    /// Counts a request in. False when the limit is passed; it counts as under way all the same, until `end`.
    func begin() -> Bool {
        counts.withLock { counts in
            counts.inFlight += 1
            return limit == 0 || counts.inFlight <= limit
        }
    }

    /// To be called once for each `begin`, however the request ended. The status is that of its answer, if it got one.
    func end(status: Int?) {
        counts.withLock { counts in
            counts.inFlight -= 1
            guard let status else { return }
            if let index = counts.answers.firstIndex(where: { $0.status == status }) {
                counts.answers[index].count += 1
            } else {
                counts.answers.append((status, 1))
            }
        }
    }

    var current: HTTPStatistics {
        let (inFlight, answers) = counts.withLock { ($0.inFlight, $0.answers) }
        return HTTPStatistics(
            requestsInFlight: inFlight,
            answers: Dictionary(uniqueKeysWithValues: answers.map { ($0.status, $0.count) }))
    }
}
