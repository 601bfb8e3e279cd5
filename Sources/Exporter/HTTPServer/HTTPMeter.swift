internal import Synchronization

/// Counts metered requests and failed handshakes; any thread.
public final class HTTPMeter: Sendable {
    private let state: Mutex<HTTPStatistics>

    /// - Parameter statuses: counted from 0 on; another status is there from its first response on.
    public init(statuses: [Int] = []) {
        state = Mutex(HTTPStatistics(answers: statuses.sorted().map { .init(status: $0, count: 0) }))
    }

    func requestStarted() {
        state.withLock { $0.requestsInFlight += 1 }
    }

    /// Call exactly once per `requestStarted`, however the request ended. The status is that of its response, if it got
    /// one.
    func requestFinished(status: Int?) {
        state.withLock { statistics in
            statistics.requestsInFlight -= 1
            if let status { statistics.countAnswer(status: status) }
        }
    }

    func countTLSHandshakeFailure() {
        state.withLock { $0.tlsHandshakeFailures += 1 }
    }

    public var current: HTTPStatistics {
        state.withLock { $0 }
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
        let place = answers.firstIndex { $0.status >= status } ?? answers.endIndex
        if place == answers.endIndex || answers[place].status != status {
            answers.insert(.init(status: status, count: 0), at: place)
        }
        answers[place].count += 1
    }
}
