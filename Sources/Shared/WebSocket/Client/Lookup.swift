internal import System

/// Looks up the addresses of a host, in the order in which to try them. Blocks, for half a minute at times.
func lookUp(_ host: String) -> ConnectionState.ConnectionEvent {
    do throws(SystemError) { return .resolved(try SocketAddress.lookUp(host).map(\.ip.description)) } catch {
        return .notResolved(detail: error.reason)
    }
}
