internal import Synchronization

/// Counts the requests of a route; any thread.
public final class HTTPMeter: Sendable {
    private let state: Mutex<HTTPStatistics>

    /// - Parameter statuses: counted from 0 on; another status is there from its first response on.
    public init(statuses: [Int] = []) {
        state = Mutex(HTTPStatistics(responses: Dictionary(uniqueKeysWithValues: statuses.map { ($0, 0) })))
    }

    func requestStarted() { state.withLock { $0.requestsInFlight += 1 } }

    /// Ends what one `requestStarted` began.
    func requestEnded(status: Int) {
        state.withLock { statistics in
            statistics.requestsInFlight -= 1
            statistics.responses[status, default: 0] += 1
        }
    }

    public var current: HTTPStatistics { state.withLock { $0 } }
}

/// The counts of an `HTTPMeter`.
public struct HTTPStatistics: Sendable, Equatable {
    /// Requests under way: asked in the route's closure, this includes the request that it responds to.
    public var requestsInFlight = 0
    /// Responses since the start, by status.
    public var responses: [Int: Int] = [:]
}
