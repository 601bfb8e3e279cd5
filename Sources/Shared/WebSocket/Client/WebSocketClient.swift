internal import CLibWebSockets
internal import Synchronization
internal import System

/// A client that stays connected to one WebSocket server, retrying indefinitely.
///
/// ```swift
/// let client = WebSocketClient(
///     configuration: WebSocketClientConfiguration(address: try WebSocketAddress("ws://localhost:8765/")),
///     onEvent: { event in print(event) },
///     onMessage: { kind, message in
///         print("\(kind) of \(message.count) bytes")
///         return MessageOutcome()
///     })
/// let thread = try ServiceThread(name: "feed", body: client.run)
/// …
/// client.stop()
/// thread.join()
/// ```
///
/// libwebsockets connects and runs the event loop; TLS, the handshake and framing are done here. Each client has its
/// own context and thread, so that one feed cannot delay another. All methods but `run` may be called on any thread.
public final class WebSocketClient: Sendable {
    /// Events that other threads have submitted, and the context that is woken for them.
    // @unchecked: the pointer is used only under the lock, and cleared under it before the context is destroyed.
    @safe private struct Orders: @unchecked Sendable {
        var events: [ConnectionState.Event] = []
        /// An `lws_context`.
        var context: OpaquePointer?
    }

    let configuration: WebSocketClientConfiguration
    let onEvent: @Sendable (WebSocketEvent) -> Void
    let onMessage: @Sendable (WebSocketMessageKind, Span<UInt8>) -> MessageOutcome
    private let orders = Mutex(Orders())

    /// - Parameters:
    ///   - onEvent: called on the thread of `run`.
    ///   - onMessage: called on the thread of `run` with each complete message, which is valid only during the call,
    ///     and empty if the message is too large. Nothing is read while it runs.
    public init(
        configuration: WebSocketClientConfiguration, onEvent: @escaping @Sendable (WebSocketEvent) -> Void,
        onMessage: @escaping @Sendable (_ kind: WebSocketMessageKind, _ message: Span<UInt8>) -> MessageOutcome
    ) {
        self.configuration = configuration
        self.onEvent = onEvent
        self.onMessage = onMessage
    }

    /// Runs the client on the calling thread until `stop`. Call it only once.
    public func run() {
        let loop = ClientLoop(self)
        guard let context = makeContext(loop) else { return }
        while true {
            loop.takeOrders()
            if loop.isFinished { return }
            loop.turn(context)
        }
    }

    /// Closes with status 1001; `run` returns within a second.
    public func stop() { give(.stop) }

    /// Ends any attempt or connection with reason `requested` and dials at once, even when paused.
    public func reconnect() { give(.reconnect) }

    /// Ends any attempt or connection with reason `paused`, and does not dial until `resume` or `reconnect`.
    public func pause() { give(.pause) }

    /// Dials at once when paused, otherwise does nothing.
    public func resume() { give(.resume) }

    /// Submits an event to the loop.
    func give(_ event: ConnectionState.Event) {
        orders.withLock { orders in
            if orders.events.last != event { orders.events.append(event) }
            // The only function of libwebsockets that other threads may call.
            if let context = unsafe orders.context { unsafe lws_cancel_service(context) }
        }
    }

    func takeOrders() -> [ConnectionState.Event] {
        orders.withLock { exchange(&$0.events, with: []) }
    }

    /// Sets the context that `give` wakes; `nil` before that context is destroyed.
    func setContext(_ context: OpaquePointer?) { orders.withLock { unsafe $0.context = context } }

    /// Makes a context, retrying every second while there is no memory or descriptor for it; `nil` once stopped.
    private func makeContext(_ loop: ClientLoop) -> WebSocketContext? {
        while !orders.withLock({ $0.events.contains(.stop) }) {
            if let context = WebSocketContext(loop) { return context }
            onEvent(.connecting)
            onEvent(.disconnected(.refused, detail: "libwebsockets cannot make a context"))
            pauseThread(for: .seconds(1))
        }
        return nil
    }
}
