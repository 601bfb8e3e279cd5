internal import Synchronization

/// Limits how many requests of a route are under way at once, slow readers included.
public final class RequestLimit: Sendable {
    let refusal: HTTPRefusal
    private let quota: Mutex<Quota>

    /// - Parameters:
    ///   - limit: requests in all, at least 1.
    ///   - limitPerClient: requests of one IPv4 address, one IPv6 /64, or all Unix sockets together.
    ///   - refusal: the response to one more.
    public init(_ limit: Int, perClient limitPerClient: Int, refusal: HTTPRefusal) {
        self.refusal = refusal
        quota = Mutex(Quota(limit: limit, limitPerClient: limitPerClient))
    }

    func acquire(_ client: [UInt8]) -> Bool { quota.withLock { $0.take(of: client) } }

    func release(_ client: [UInt8]) { quota.withLock { $0.remove(of: client) } }
}
