import System

/// Limits how many requests of a route are under way at once, slow readers included.
///
/// As many requests again may wait a moment for their turn, so that a client with a few connections more than its part
/// is slowed down instead of rejected.
public final class RequestLimit: Sendable {
    private struct State {
        var underWay: Quota
        var waiting: Quota
    }

    let refusal: HTTPRefusal
    private let patience: Duration
    private let state: Monitor<State>

    /// - Parameters:
    ///   - limit: requests in all, at least 1.
    ///   - limitPerClient: requests of one IPv4 address, one IPv6 /64, or all Unix sockets together.
    ///   - patience: how long a request waits for its turn, on its connection's thread.
    ///   - refusal: the response to one more.
    public init(_ limit: Int, perClient limitPerClient: Int, patience: Duration = .zero, refusal: HTTPRefusal) {
        self.refusal = refusal
        self.patience = patience
        let quota = Quota(limit: limit, limitPerClient: limitPerClient)
        state = Monitor(State(underWay: quota, waiting: quota))
    }

    func acquire(_ client: [UInt8]) -> Bool {
        var isWaiting = false
        let isAdmitted = state.wait(until: monotonicTime() + patience) { state -> Bool? in
            if state.underWay.take(of: client) { return true }
            if !isWaiting {
                isWaiting = state.waiting.take(of: client)
            }
            return isWaiting ? nil : false
        }
        if isWaiting {
            state.change { $0.waiting.remove(of: client) }
        }
        return isAdmitted ?? false
    }

    func release(_ client: [UInt8]) {
        state.change { $0.underWay.remove(of: client) }
    }
}
