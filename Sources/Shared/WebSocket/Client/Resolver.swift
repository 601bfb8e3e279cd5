internal import Synchronization
internal import System

/// Looks up names on a queue of its own: `getaddrinfo` can block for half a minute, and the loop has deadlines.
final class Resolver: Sendable {
    private let wanted = Mutex<(number: Int, host: String)?>(nil)
    private let queue = WorkQueue(name: "lookup", limit: 4)
    private let onResult: @Sendable (_ number: Int, ConnectionState.ConnectionEvent) -> Void

    /// - Parameter onResult: called on another thread.
    init(onResult: @escaping @Sendable (_ number: Int, ConnectionState.ConnectionEvent) -> Void) {
        self.onResult = onResult
    }

    /// Begins a lookup; one before it is forgotten, unless it still runs for the same host and serves both.
    func resolve(_ number: Int, host: String) {
        wanted.withLock { $0 = (number, host) }
        let isAccepted = queue.submit { [self] in
            guard wanted.withLock({ $0?.number }) == number else { return }
            do throws(SystemError) {
                finish(host, .resolved(try lookUp(host)))
            } catch {
                finish(host, .notResolved(detail: error.reason))
            }
        }
        if !isAccepted { finish(host, .notResolved(detail: "earlier name lookups hang")) }
    }

    private func finish(_ host: String, _ result: ConnectionState.ConnectionEvent) {
        let number = wanted.withLock { wanted -> Int? in
            guard wanted?.host == host else { return nil }
            return wanted.take()?.number
        }
        if let number { onResult(number, result) }
    }
}

/// The addresses in the order in which to try them, each once.
func lookUp(_ host: String) throws(SystemError) -> [String] {
    try SocketAddress.lookUp(host).compactMap(\.numbers?.host).reduce(into: []) { addresses, address in
        if !addresses.contains(address) { addresses.append(address) }
    }
}
