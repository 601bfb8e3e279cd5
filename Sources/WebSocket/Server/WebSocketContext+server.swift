internal import CLibWebSockets
internal import Glibc
internal import System

extension WebSocketContext {
    static let mostClients = 1024

    /// Listens.
    /// - Parameters:
    ///   - host: an IP address, the name of one, or nothing for all of the machine's.
    ///   - port: 0 = a free one.
    /// - Throws: a `SystemError` that names the address and the reason.
    static func server(
        _ owner: ServerLoop, listen host: String, port: Int, waker: Waker
    ) throws(SystemError) -> WebSocketContext {
        guard (0...65535).contains(port) else {
            throw SystemError(.address, "cannot listen on port \(port): it is not a number from 0 to 65535")
        }
        let ipAddress = try Self.ipAddress(of: host)
        let made = unsafe WebSocketContext(
            owner: owner, callback: webSocketServerEvent,
            onTimer: webSocketServerTimer, interface: ipAddress, waker: waker
        ) { info in
            unsafe info.port = Int32(port)
            unsafe info.fd_limit_per_thread = UInt32(Self.mostClients + 1)
            let isIPv4 = isNumericAddress(ipAddress, family: AF_INET)
            unsafe info.options =
                UInt64(LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND)
                | (isIPv4 ? UInt64(LWS_SERVER_OPTION_DISABLE_IPV6) : 0)
        }
        guard let made else {
            // libwebsockets does not say why, so the kernel is asked once more.
            let address = ListenAddress.tcp(host: host, port: port)
            _ = try ListeningSocket.open(address)
            throw SystemError(.address, "cannot listen on \(address): libwebsockets does not say why")
        }
        return made
    }

    /// The one that it listens on.
    var listenPort: Int {
        unsafe "default".withCString { name in
            unsafe Int(lws_get_vhost_listen_port(lws_get_vhost_by_name(context, name)))
        }
    }

    private static func ipAddress(of host: String) throws(SystemError) -> String {
        if host.isEmpty || isNumericAddress(host) { return host }
        switch lookUp(host) {
        case .resolved(let addresses) where !addresses.isEmpty:
            return addresses.first { isNumericAddress($0, family: AF_INET) } ?? addresses[0]
        case .notResolved(let detail): throw SystemError(.address, detail)
        default: throw SystemError(.address, "no address for \(host)")
        }
    }
}
