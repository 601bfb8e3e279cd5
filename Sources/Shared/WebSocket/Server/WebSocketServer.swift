internal import Bytes
internal import HTTPText
internal import Synchronization
public import System

/// A server that sends the same text messages to all clients.
///
/// A client that is too slow is dropped and never waited for. Messages of clients are ignored, and one address has half
/// of the places at most.
public final class WebSocketServer: Sendable {
    /// Time that clients have to answer the close frame of `stop`.
    private static let closeTimeout: Duration = .seconds(1)

    /// Owned by `run`.
    ///
    /// @unchecked: made by the thread of `init`, then handed through a lock to the thread of `run`, for good.
    private struct Parts: ~Copyable, @unchecked Sendable {
        let context: WebSocketContext
        let loop: ServerLoop
    }

    /// The port that it listens on, also when 0 was asked for.
    public let port: Int
    private let waker = LoopWaker()
    private let orders = ServerOrders()
    private let maximumQueuedBytes: Int
    private let parts: Mutex<Parts?>

    /// Listens at once; clients are answered when `run` is called.
    /// - Throws: a `SystemError` that names the address and the reason, or the header that cannot be sent.
    public init(_ configuration: WebSocketServerConfiguration) throws(SystemError) {
        if let bad = configuration.headers.first(where: { !$0.isValid || $0.isReserved }) {
            throw SystemError(.configuration, "the header \(bad.name) cannot be sent")
        }
        var configuration = configuration
        configuration.maximumClients = OpenFileLimit.raise(forConnections: configuration.maximumClients)
        let loop = ServerLoop(configuration, orders)
        let context = try WebSocketContext.server(loop, configuration, waker: waker)
        maximumQueuedBytes = configuration.maximumQueuedBytes
        port = context.listenPort
        parts = Mutex(Parts(context: context, loop: loop))
    }

    /// Blocks the calling thread until `stop`; to be called once.
    public func run() {
        guard let parts = parts.withLock({ $0.take() }) else { return }
        var stopsAt: Duration?
        while true {
            let orders = orders.take()
            for frame in orders.frames { parts.loop.broadcast(frame) }
            if let status = orders.closeStatus { parts.loop.close(status: status) }
            if orders.stops {
                let now = monotonicTime()
                let deadline = stopsAt ?? now + Self.closeTimeout
                if parts.loop.isEmpty || now >= deadline { return }
                parts.loop.close(status: 1001)
                if stopsAt == nil { parts.context.schedule(in: Self.closeTimeout) }
                stopsAt = deadline
            }
            parts.context.service()
        }
    }

    /// Any thread: sends a text message to each client that is there.
    /// - Returns: false when the queue of the server's thread is full, and the message is dropped.
    @discardableResult public func broadcast(_ message: [UInt8]) -> Bool {
        if clientCount == 0 { return true }
        let isAccepted = orders.add(FrameWriter.frame(.text, message, mask: nil), within: maximumQueuedBytes)
        if isAccepted { waker.wake() }
        return isAccepted
    }

    /// Any thread.
    public var clientCount: Int { orders.clientCount.load(ordering: .relaxed) }

    /// Any thread: sends each client that is there a close frame, after what waits for it, and takes no new ones from
    /// then on.
    public func close(status: UInt16 = 1000) {
        orders.close(status: status)
        waker.wake()
    }

    /// Any thread: closes with status 1001 and lets `run` return, a second later at most.
    public func stop() {
        orders.stop()
        waker.wake()
    }
}
