internal import Bytes
public import CommandLine
internal import System
public import WebSocket

extension WebSocketClientConfiguration {
    /// The connection to a feed as the flags describe it.
    /// - Parameter flag: the flag of an option, as the user writes it, for errors of the connection.
    public init(
        address: WebSocketAddress, options: FeedClientOptions,
        flag: @escaping FeedClientOptions.FlagName = { FeedClientOptions.flag($0) }
    ) {
        self.init(address: address)
        headerFields = { () throws(SystemError) in
            do throws(FeedOptionError) { return try options.headerFields() } catch {
                throw SystemError(.file, error.line(flag))
            }
        }
        subprotocols = options.subprotocols
        subscriptions = options.subscriptions
        subscriptionInterval = options.subscriptionInterval
        tls = options.tls
        connectTimeout = options.connectTimeout
        pingInterval = options.pingInterval
        pongTimeout = options.pongTimeout
        idleTimeout = options.idleTimeout
        idleTimeoutName = flag(\.idleTimeout)
        reconnectMinimum = options.reconnectMinimum
        reconnectMaximum = options.reconnectMaximum
        maximumMessageBytes = options.maximumMessageBytes
    }
}
