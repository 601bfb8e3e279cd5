internal import Synchronization
public import System

/// What a `WebSocketServer` says, on the thread of its `run`.
public struct WebSocketServerEvents: Sendable {
    /// With the number of clients that there are now.
    public var onConnect: @Sendable (Int) -> Void = { _ in }
    public var onDisconnect: @Sendable (Int) -> Void = { _ in }
    /// A whole message of a client, of at most 64 KiB.
    public var onMessage: @Sendable ([UInt8]) -> Void = { _ in }

    public init() {}
}

/// A server that sends the same text messages to all of its clients.
///
/// A client that is too slow is dropped and never waited for. At most 1024 clients.
public final class WebSocketServer: Sendable {
    /// Of `stop`: for clients that do not answer the close frame.
    private static let closeTimeout: Duration = .seconds(1)

    private struct Orders {
        /// As frames, which are the same for all clients.
        var messages: [[UInt8]] = []
        var bytes = 0
        var closeStatus: UInt16?
        var stops = false
    }

    /// What `run` works with.
    ///
    /// @unchecked: made by the thread of `init`, then handed through a lock to the thread of `run`, for good.
    private struct Parts: ~Copyable, @unchecked Sendable {
        let context: WebSocketContext
        let loop: ServerLoop
    }

    /// The real one, also when 0 was asked for.
    public let port: Int
    private let maximumQueuedBytes: Int
    private let waker = LoopWaker()
    private let orders = Mutex(Orders())
    private let connectedClients = ClientCount()
    private let parts: Mutex<Parts?>

    /// Listens at once; clients are answered when `run` is called.
    /// - Parameters:
    ///   - host: an IP address, the name of one, or nothing for all of the machine's.
    ///   - port: 0 = a free one.
    ///   - maximumQueuedBytes: a client for which more than that waits is dropped.
    ///   - headers: more header fields of the handshake's answer.
    ///   - greeting: the text messages that a new client gets before any others; asked on the thread of `run`, once for
    ///     each client. What was broadcast before it is asked may not reach the client, all that is broadcast after it
    ///     does: state that is changed first and broadcast then is complete for everybody.
    /// - Throws: a `SystemError` that names the address and the reason, or the header that cannot be sent.
    public init(
        listen host: String, port: Int, maximumQueuedBytes: Int = 64 << 20,
        headers: [HTTPField] = [], greeting: @escaping @Sendable () -> [[UInt8]] = { [] },
        events: WebSocketServerEvents = WebSocketServerEvents()
    ) throws(SystemError) {
        self.maximumQueuedBytes = maximumQueuedBytes
        if let bad = headers.first(where: { !$0.isValid || $0.isReserved }) {
            throw SystemError(.configuration, "the header \(bad.name) cannot be sent")
        }
        let loop = ServerLoop(
            maximumQueuedBytes: maximumQueuedBytes, clientCount: connectedClients, fields: headers, greeting: greeting,
            events: events)
        let context = try WebSocketContext.server(loop, listen: host, port: port, waker: waker)
        self.port = context.listenPort
        parts = Mutex(Parts(context: context, loop: loop))
    }

    /// Blocks the calling thread until `stop`; to be called once.
    public func run() {
        guard let parts = parts.withLock({ $0.take() }) else { return }
        var stopsAt: Duration?
        while true {
            let orders = takeOrders()
            for message in orders.messages { parts.loop.broadcast(message) }
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

    /// Any thread: sends a text message to each client that is there. False when as many bytes wait for the server's
    /// thread as may wait for a client; the message is then left out.
    @discardableResult public func broadcast(_ message: [UInt8]) -> Bool {
        if clientCount == 0 { return true }
        let frame = FrameWriter.frame(.text, message, mask: nil)
        let (isTaken, isFirst) = orders.withLock { orders in
            let isFirst = orders.messages.isEmpty
            guard isFirst || orders.bytes + message.count <= maximumQueuedBytes else { return (false, false) }
            orders.messages.append(frame)
            orders.bytes += message.count
            return (true, isFirst)
        }
        if isFirst { waker.wake() }
        return isTaken
    }

    /// Any thread.
    public var clientCount: Int { connectedClients.value.load(ordering: .relaxed) }

    /// Any thread: tells each client that is there goodbye, after what waits for it.
    public func close(status: UInt16 = 1000) {
        orders.withLock { $0.closeStatus = status }
        waker.wake()
    }

    /// Any thread: closes with status 1001 and lets `run` return, a second later at most.
    public func stop() {
        orders.withLock { $0.stops = true }
        waker.wake()
    }

    /// Everything but `stops`, which stays.
    private func takeOrders() -> Orders {
        orders.withLock { orders in
            let taken = orders
            orders = Orders(stops: taken.stops)
            return taken
        }
    }
}
