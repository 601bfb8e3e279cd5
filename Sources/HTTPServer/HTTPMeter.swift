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
            if let status { counts.countAnswer(status: status) }
        }
    }

    public var current: HTTPStatistics {
        counts.withLock { $0 }
    }
}

/// The counts of an `HTTPServer`'s metered requests.
public struct HTTPStatistics: Sendable, Equatable {
    /// Requests under way: asked in the route closure, this includes the request that it answers.
    public var requestsInFlight = 0
    /// Answers since the start, by ascending status.
    public var answers: [Answers] = []

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
