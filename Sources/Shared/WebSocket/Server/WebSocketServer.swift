internal import Bytes
internal import HTTPText
internal import Synchronization
public import System

/// A server that sends the same text messages to all clients: the feeds of this package.
///
/// A client that is too slow is disconnected and never waited for. Messages of clients are ignored, and one address has
/// half of the places at most.
public final class WebSocketServer: Sendable {
    /// Requests of other threads to the thread of `run`.
    struct Orders {
        /// Frames for all clients, the oldest first.
        var frames: [[UInt8]] = []
        var byteCount = 0
        var closeStatus: UInt16?
        var stops = false
    }

    /// The port that it listens on, also when 0 was asked for.
    public let port: Int
    let configuration: WebSocketServerConfiguration
    /// More are not accepted.
    let maximumClients: Int
    let listener: ListeningSocket
    let waker: WakePipe
    private let orders = Mutex(Orders())
    private let clients = Atomic(0)

    /// Listens at once; clients are answered when `run` is called.
    /// - Throws: a `SystemError` that names the address and the reason, or the header that cannot be sent.
    public init(_ configuration: WebSocketServerConfiguration) throws(SystemError) {
        if let bad = configuration.headers.first(where: { !$0.isValid || $0.isReserved }) {
            throw SystemError(.configuration, "the header \(bad.name) cannot be sent")
        }
        self.configuration = configuration
        maximumClients = OpenFileLimit.raise(forConnections: 1024)
        waker = try WakePipe()
        listener = try ListeningSocket.open(.tcp(host: configuration.host, port: configuration.port))
        port = if case .tcp(_, let port) = listener.address { port } else { configuration.port }
    }

    /// Blocks the calling thread until `stop`; to be called once.
    public func run() {
        var loop = ServerLoop(self)
        loop.run()
    }

    /// Any thread: sends a text message to each client that is there.
    /// - Returns: false when the queue of the server's thread is full, and the message is left out.
    @discardableResult public func broadcast(_ message: [UInt8]) -> Bool {
        let frame = FrameWriter.frame(.text, message, mask: nil)
        var isAccepted = false
        order { orders in
            let isFull = orders.byteCount + frame.count > configuration.maximumQueuedBytes
            guard orders.frames.isEmpty || !isFull else { return }
            orders.frames.append(frame)
            orders.byteCount += frame.count
            isAccepted = true
        }
        return isAccepted
    }

    /// Any thread.
    public var clientCount: Int { clients.load(ordering: .relaxed) }

    /// Any thread: sends each client that is there a close frame, after what waits for it, and takes no new ones from
    /// then on.
    public func close(status: UInt16 = 1000) { order { $0.closeStatus = status } }

    /// Any thread: closes with status 1001 and lets `run` return, a second later at most.
    public func stop() { order { $0.stops = true } }

    private func order(_ change: (inout Orders) -> Void) {
        orders.withLock { change(&$0) }
        waker.wake()
    }

    // MARK: For the thread of run

    /// The orders since the last call; `stops` stays.
    /// - Parameter greets: has the greeting made in the same moment: no frame of these orders is newer, and none of
    ///   later orders is older.
    func takeOrders(greets: Bool) -> (orders: Orders, greeting: [[UInt8]]) {
        waker.clear()
        return orders.withLock { orders in
            let taken = orders
            orders = Orders(stops: taken.stops)
            return (taken, greets ? configuration.greeting() : [])
        }
    }

    func setClientCount(_ count: Int) {
        guard clients.exchange(count, ordering: .relaxed) != count else { return }
        configuration.onClientCount(count)
    }
}
