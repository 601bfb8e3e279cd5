internal import Bytes
internal import Glibc
public import HTTPText
internal import Synchronization
public import System

/// Settings of a `WebSocketServer`. Its closures are called on the thread of `run`.
public struct WebSocketServerConfiguration: Sendable {
    /// An IP address, the name of one, or nothing for all of the machine's.
    public var host: String
    /// 0 = a free one.
    public var port: Int
    /// More are not accepted. The process's limit of open files is raised for them; where that is not allowed, they are
    /// fewer.
    public var maximumClients = 1024
    /// While more than that waits for clients in all, the slowest are dropped. Greetings that clients still take are
    /// bounded alike, but for the newest one.
    public var maximumQueuedBytes = 64 << 20
    /// More header fields of the handshake's response.
    public var headers: [HTTPField] = []
    /// Returns what is at a path, without its query.
    public var route: @Sendable (_ path: String) -> WebSocketRoute = { _ in .group(0) }
    /// Returns the text messages that a new client of the group gets before any others; meanwhile `broadcast` waits. The
    /// client gets all broadcasts after this call and none from before it: if a change is made first and broadcast
    /// afterwards, no client misses it. It must not broadcast. Clients that come within a second and before the next
    /// message share it.
    public var greeting: @Sendable (_ group: Int) -> [[UInt8]] = { _ in [] }
    /// Called when a client has come or gone, with the number of those that are there.
    public var onClientCount: @Sendable (Int) -> Void = { _ in }
    /// Called for a client of the group that was too slow; `onClientCount` follows.
    public var onDrop: @Sendable (_ group: Int) -> Void = { _ in }

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

/// A path of a server.
public enum WebSocketRoute: Sendable, Equatable {
    /// Clients there get what is broadcast to the group.
    case group(Int)
    /// The response is 404 with this line.
    case notFound(reason: String)
}

/// Requests of other threads to a server's thread, and what they see of it.
final class ServerOrders: Sendable {
    struct Message {
        /// In the order in which they were added, from 0.
        let number: Int
        let group: Int
        /// The same for all clients.
        let frame: [UInt8]
    }

    struct Pending {
        var messages: [Message] = []
        var bytes = 0
        var closeStatus: UInt16?
        /// Stays, once it is set.
        var stops = false
        /// The number of the next message.
        var messageCount = 0
        /// Of future responses to handshakes.
        var headers: [HTTPField] = []

        mutating func take() -> Pending {
            defer { (messages, bytes, closeStatus) = ([], 0, nil) }
            return self
        }
    }

    let clientCount = Atomic<Int>(0)
    let pending = Mutex(Pending())
}

/// A server that sends the same text messages to all clients of a group.
///
/// A client that is too slow is dropped and never waited for. What clients say is ignored, and one address has half of the
/// places at most.
public final class WebSocketServer: Sendable {
    /// Of `stop`: for clients that do not answer the close frame.
    private static let closeTimeout: Duration = .seconds(1)

    /// Owned by `run`.
    ///
    /// @unchecked: made by the thread of `init`, then handed through a lock to the thread of `run`, for good.
    private struct Parts: ~Copyable, @unchecked Sendable {
        let context: WebSocketContext
        let loop: ServerLoop
    }

    /// The real one, also when 0 was asked for.
    public let port: Int
    private let waker = LoopWaker()
    private let orders = ServerOrders()
    private let maximumQueuedBytes: Int
    private let parts: Mutex<Parts?>

    /// Listens at once; clients are answered when `run` is called.
    /// - Throws: a `SystemError` that names the address and the reason, or the header that cannot be sent.
    public init(_ configuration: WebSocketServerConfiguration) throws(SystemError) {
        var configuration = configuration
        configuration.maximumClients = OpenFileLimit.raise(forConnections: configuration.maximumClients)
        let loop = ServerLoop(configuration, orders)
        let context = try WebSocketContext.server(loop, configuration, waker: waker)
        maximumQueuedBytes = configuration.maximumQueuedBytes
        port = context.listenPort
        parts = Mutex(Parts(context: context, loop: loop))
        try setHeaders(configuration.headers)
    }

    /// Blocks the calling thread until `stop`; to be called once.
    public func run() {
        guard let parts = parts.withLock({ $0.take() }) else { return }
        var stopsAt: Duration?
        while true {
            let orders = orders.pending.withLock { $0.take() }
            for message in orders.messages { parts.loop.broadcast(message) }
            if let status = orders.closeStatus { parts.loop.close(status: status) }
            let now = monotonicTime()
            if let next = parts.loop.forgetGreetings(at: now), stopsAt == nil { parts.context.schedule(in: next - now) }
            if orders.stops {
                let deadline = stopsAt ?? now + Self.closeTimeout
                if parts.loop.isEmpty || now >= deadline { return }
                parts.loop.close(status: 1001)
                if stopsAt == nil { parts.context.schedule(in: Self.closeTimeout) }
                stopsAt = deadline
            }
            parts.context.service()
        }
    }

    /// Any thread: sends a text message to each client of the group that is there. Returns false and drops the message
    /// when the queue of the server's thread is full.
    @discardableResult public func broadcast(_ message: [UInt8], to group: Int = 0) -> Bool {
        if clientCount == 0 { return true }
        return add([(FrameWriter.frame(.text, message, mask: nil), group)])
    }

    /// Any thread but that of `run`: sends each message to the clients of its group, and waits as long as too much waits
    /// for the server's thread.
    public func broadcast(_ messages: [(message: [UInt8], group: Int)]) {
        if clientCount == 0 || messages.isEmpty { return }
        let frames = messages.map { (FrameWriter.frame(.text, $0.message, mask: nil), $0.group) }
        while !add(frames), !orders.pending.withLock(\.stops) { usleep(1000) }
    }

    /// Adds all of them, or none where too much is pending; what is added to an empty queue may exceed the limit.
    private func add(_ frames: [(frame: [UInt8], group: Int)]) -> Bool {
        let bytes = frames.reduce(0) { $0 + $1.frame.count }
        let isFirst = orders.pending.withLock { pending -> Bool? in
            let isFirst = pending.messages.isEmpty
            guard isFirst || pending.bytes + bytes <= maximumQueuedBytes else { return nil }
            for (frame, group) in frames {
                pending.messages.append(ServerOrders.Message(number: pending.messageCount, group: group, frame: frame))
                pending.messageCount += 1
            }
            pending.bytes += bytes
            return isFirst
        }
        if isFirst == true { waker.wake() }
        return isFirst != nil
    }

    /// Any thread.
    public var clientCount: Int { orders.clientCount.load(ordering: .relaxed) }

    /// Any thread: sets the additional header fields of future handshake responses.
    /// - Throws: a `SystemError` that names a field that cannot be sent; then nothing changes.
    public func setHeaders(_ headers: [HTTPField]) throws(SystemError) {
        if let bad = headers.first(where: { !$0.isValid || $0.isReserved }) {
            throw SystemError(.configuration, "the header \(bad.name) cannot be sent")
        }
        orders.pending.withLock { $0.headers = headers }
    }

    /// Any thread: tells each client that is there goodbye, after what waits for it, and takes no new ones from then on.
    public func close(status: UInt16 = 1000) {
        orders.pending.withLock { $0.closeStatus = status }
        waker.wake()
    }

    /// Any thread: closes with status 1001 and lets `run` return, a second later at most.
    public func stop() {
        orders.pending.withLock { $0.stops = true }
        waker.wake()
    }
}
