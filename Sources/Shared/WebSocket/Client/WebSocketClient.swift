internal import Glibc
internal import Synchronization
internal import System

/// A client that stays connected to one WebSocket server: it retries indefinitely.
///
/// libwebsockets connects, and runs the loop of sockets and timers. What goes over the sockets is made and read here:
/// TLS by OpenSSL (`OpenSSLSession`), the handshake (`HandshakeRequest`, `HandshakeResponse`) and the frames
/// (`FrameReader`). libwebsockets 4.1 cannot read a response header above 4 KiB, with folded lines, or after a 1xx
/// response. It accepts masked frames from a server, hides the close status and whether the peer was at fault, and a
/// compressed message can make it abort the process.
///
/// Each client has a context and a thread of its own, so that nothing that happens to one feed delays another.
public final class WebSocketClient: Sendable {
    /// `lastTick` is never older than that while the loop is well.
    public static let maximumSleep: Duration = .seconds(5)

    private let configuration: WebSocketClientConfiguration
    private let onEvent: @Sendable (WebSocketEvent) -> Void
    private let onMessage: @Sendable (WebSocketMessageKind, Span<UInt8>) -> Void
    private let waker = LoopWaker()
    private let orders = Mutex<[ConnectionState.Event]>([])
    private let tick = Atomic<Int64>(0)

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
        touch()
    }

    /// Blocks the calling thread until `stop`; to be called once.
    public func run() {
        let loop = ClientLoop(
            configuration: configuration, waker: waker, onResolved: { [weak self] in self?.give(.connection($0, $1)) },
            onEvent: onEvent, onMessage: onMessage)
        guard let context = makeContext(loop) else { return }
        loop.handle(.started)
        while true {
            let now = touch()
            for order in orders.withLock({ exchange(&$0, with: []) }) { loop.handle(order) }
            loop.turn(context, at: now)
            if loop.isFinished { return }
            context.service()
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

    /// Any thread: monotonic time of the loop's last turn.
    public var lastTick: Duration { .nanoseconds(tick.load(ordering: .relaxed)) }

    private func give(_ order: ConnectionState.Event) {
        orders.withLock { orders in
            if orders.last != order { orders.append(order) }
        }
        waker.wake()
    }

    @discardableResult
    private func touch() -> Duration {
        let now = monotonicNanoseconds()
        tick.store(now, ordering: .relaxed)
        return .nanoseconds(now)
    }

    /// A context, `nil` when stopped before there was memory and a descriptor for one.
    private func makeContext(_ loop: ClientLoop) -> WebSocketContext? {
        while true {
            do throws(SystemError) {
                return try WebSocketContext.client(loop, waker: waker)
            } catch {
                onEvent(.connecting)
                onEvent(.disconnected(.refused, detail: error.reason, retryAfter: nil))
                if orders.withLock({ $0.contains(.stop) }) { return nil }
                touch()
                sleep(1)
            }
        }
    }
}
