internal import System

/// Counts the requests of a route; any thread.
public final class HTTPMeter: Sendable {
    // Not a `Mutex`, which on Linux is handed from one sleeping thread to the next, so that requests form a convoy.
    private let state: Monitor<HTTPStatistics>

    /// - Parameter statuses: counted from 0; other statuses appear with their first response.
    public init(statuses: [Int] = []) {
        state = Monitor(HTTPStatistics(responses: Dictionary(uniqueKeysWithValues: statuses.map { ($0, 0) })))
    }

    func requestStarted() { state.change { $0.requestsInFlight += 1 } }

    func requestEnded(status: Int) {
        state.change { statistics in
            statistics.requestsInFlight -= 1
            statistics.responses[status, default: 0] += 1
        }
    }

    public var current: HTTPStatistics { state.read { $0 } }
}

/// The counts of an `HTTPMeter`.
public struct HTTPStatistics: Sendable, Equatable {
    /// Requests in progress, including the one that a route is responding to when it reads this.
    public var requestsInFlight = 0
    /// Responses since the start, by status.
    public var responses: [Int: Int] = [:]
}
