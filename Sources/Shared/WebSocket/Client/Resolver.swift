internal import Synchronization
internal import System

/// Looks up names on a queue of its own: `getaddrinfo` can block for half a minute, and the loop has deadlines.
final class Resolver: Sendable {
    private let newest = Atomic(0)
    private let queue = WorkQueue(name: "lookup", limit: 4)
    private let onResult: @Sendable (_ number: Int, ConnectionState.ConnectionEvent) -> Void

    /// - Parameter onResult: called on another thread.
    init(onResult: @escaping @Sendable (_ number: Int, ConnectionState.ConnectionEvent) -> Void) {
        self.onResult = onResult
    }

    /// Begins a lookup; one before it that has not begun is left out.
    func resolve(_ number: Int, host: String) {
        newest.store(number, ordering: .relaxed)
        let isAccepted = queue.submit { [self] in
            guard newest.load(ordering: .relaxed) == number else { return }
            do throws(SystemError) {
                onResult(number, .resolved(try lookUp(host)))
            } catch {
                onResult(number, .notResolved(detail: error.reason))
            }
        }
        if !isAccepted { onResult(number, .notResolved(detail: "earlier name lookups hang")) }
    }
}

/// The addresses in the order in which to try them, each once.
private func lookUp(_ host: String) throws(SystemError) -> [String] {
    try SocketAddress.lookUp(host).compactMap(\.numbers?.host).reduce(into: []) { addresses, address in
        if !addresses.contains(address) { addresses.append(address) }
    }
}
