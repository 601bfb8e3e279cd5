internal import CLibWebSockets
internal import Glibc
internal import System

extension WebSocketContext {
    /// Listens.
    /// - Throws: a `SystemError` that names the address and the reason.
    static func server(
        _ loop: ServerLoop, _ configuration: WebSocketServerConfiguration, waker: LoopWaker
    ) throws(SystemError) -> WebSocketContext {
        let host = configuration.host
        let port = configuration.port
        guard (0...65535).contains(port) else {
            throw SystemError(.address, "cannot listen on port \(port): it is not a number from 0 to 65535")
        }
        let ipAddress = try Self.ipAddress(of: host)
        // libwebsockets does not say why it cannot, and since 4.3 tries again for a quarter of an hour first. So the
        // kernel is asked before.
        let address = ListenAddress.tcp(host: host, port: port)
        _ = try ListeningSocket.open(address)
        let made = unsafe WebSocketContext(
            loop, interface: ipAddress, maximumSockets: configuration.maximumClients + 1, waker: waker
        ) { info in
            unsafe info.port = Int32(port)
            unsafe info.listen_accept_role = Memory.characters(of: Memory.role)
            unsafe info.listen_accept_protocol = Memory.characters(of: Memory.protocolName)
            let isIPv4 = isNumericAddress(ipAddress, family: AF_INET)
            unsafe info.options =
                UInt64(LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND)
                | UInt64(LWS_SERVER_OPTION_ADOPT_APPLY_LISTEN_ACCEPT_CONFIG)
                | (isIPv4 ? UInt64(LWS_SERVER_OPTION_DISABLE_IPV6) : 0)
        }
        guard let made else {
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
        let addresses = try lookUp(host)
        guard let first = addresses.first else { throw SystemError(.address, "no address for \(host)") }
        return addresses.first { isNumericAddress($0, family: AF_INET) } ?? first
    }
}
