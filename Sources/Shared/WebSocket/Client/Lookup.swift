internal import System

/// Looks up the addresses of a host, each once, in the order in which to try them. Blocks, for half a minute at times.
func lookUp(_ host: String) -> ConnectionState.ConnectionEvent {
    do throws(SystemError) {
        var addresses: [String] = []
        for address in try SocketAddress.lookUp(host).map(\.ip.description) where !addresses.contains(address) {
            addresses.append(address)
        }
        return .resolved(addresses)
    } catch {
        return .notResolved(detail: error.reason)
    }
}
