internal import CLibWebSockets
internal import Synchronization
internal import System

/// A client that stays connected to one WebSocket server: it retries indefinitely.
///
/// ```swift
/// let client = WebSocketClient(
///     configuration: WebSocketClientConfiguration(address: try WebSocketAddress("ws://localhost:8765/")),
///     onEvent: { event in print(event) },
///     onMessage: { kind, message in print("\(kind) of \(message.count) bytes") })
/// let thread = try ServiceThread(name: "feed", body: client.run)
/// …
/// client.stop()
/// thread.join()
/// ```
///
/// libwebsockets connects and runs the loop of sockets; TLS, the handshake and the frames are made and read here. Each
/// client has a context and a thread of its own, so that nothing that happens to one feed delays another.
public final class WebSocketClient: Sendable {
    /// Events that other threads have for the loop, and where it waits for them.
    // @unchecked: the pointer is only used under the lock, and taken away under it before the context is destroyed.
    @safe private struct Orders: @unchecked Sendable {
        var events: [ConnectionState.Event] = []
        /// An `lws_context`.
        var context: OpaquePointer?
    }

    let configuration: WebSocketClientConfiguration
    let onEvent: @Sendable (WebSocketEvent) -> Void
    let onMessage: @Sendable (WebSocketMessageKind, Span<UInt8>) -> Void
    private let orders = Mutex(Orders())

    /// - Parameters:
    ///   - onEvent: called on the thread of `run`.
    ///   - onMessage: called on the thread of `run` with each whole message, which is only there during the call; it is
    ///     empty when the message is too large. While it runs, nothing is read.
    public init(
        configuration: WebSocketClientConfiguration, onEvent: @escaping @Sendable (WebSocketEvent) -> Void,
        onMessage: @escaping @Sendable (_ kind: WebSocketMessageKind, _ message: Span<UInt8>) -> Void
    ) {
        self.configuration = configuration
        self.onEvent = onEvent
        self.onMessage = onMessage
    }

    /// Blocks the calling thread until `stop`; to be called once.
    public func run() {
        let loop = ClientLoop(self)
        guard let context = makeContext(loop) else { return }
        while true {
            loop.takeOrders()
            if loop.isFinished { return }
            loop.turn(context)
        }
    }

    /// Any thread: closes with status 1001 and lets `run` return, a second later at most.
    public func stop() { give(.stop) }

    /// Any thread: ends what there is, with reason `requested`, and dials at once; also when paused.
    public func reconnect() { give(.reconnect) }

    /// Any thread: ends what there is, with reason `paused`, and does not dial until `resume`.
    public func pause() { give(.pause) }

    /// Any thread: dials at once when paused, else does nothing.
    public func resume() { give(.resume) }

    /// Any thread: has the loop handle an event.
    func give(_ event: ConnectionState.Event) {
        orders.withLock { orders in
            if orders.events.last != event { orders.events.append(event) }
            // The one function of libwebsockets that other threads may call.
            if let context = unsafe orders.context { unsafe lws_cancel_service(context) }
        }
    }

    /// Takes what `give` was called with.
    func takeOrders() -> [ConnectionState.Event] {
        orders.withLock { exchange(&$0.events, with: []) }
    }

    /// Has `give` end the wait of a context from now on; `nil` before that is destroyed.
    func setContext(_ context: OpaquePointer?) { orders.withLock { unsafe $0.context = context } }

    /// A context, `nil` when stopped before there was memory and a descriptor for one.
    private func makeContext(_ loop: ClientLoop) -> WebSocketContext? {
        while !orders.withLock({ $0.events.contains(.stop) }) {
            if let context = WebSocketContext(loop, of: self) { return context }
            onEvent(.connecting)
            onEvent(.disconnected(.refused, detail: "libwebsockets cannot make a context", retryAfter: nil))
            pauseThread(for: .seconds(1))
        }
        return nil
    }
}
