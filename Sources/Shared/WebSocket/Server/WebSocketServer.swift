internal import Glibc
internal import HTTPText
internal import Synchronization
public import System

/// A server that sends the same text messages to all clients: the feeds of this package. A client that is too slow is
/// disconnected, never waited for; messages of clients are ignored; one address has half of the places at most.
public final class WebSocketServer: Sendable {
    /// The port that it listens on, also when 0 was asked for.
    public let port: Int
    private let configuration: WebSocketServerConfiguration
    private let maximumClients: Int
    private let listener: ListeningSocket
    private let waker: Waker
    private let clients = Mutex(ServerClients())

    /// Listens at once; clients are answered when `run` is called.
    ///
    /// - Throws: a `SystemError` that names the address and the reason.
    public init(_ configuration: WebSocketServerConfiguration) throws(SystemError) {
        self.configuration = configuration
        maximumClients = OpenFileLimit.raise(forConnections: 1024)
        waker = try Waker()
        listener = try ListeningSocket.open(configuration.address)
        port = if case .tcp(_, let port) = listener.address { port } else { 0 }
    }

    /// Blocks the calling thread until `stop`; to be called once.
    public func run() {
        var knownCount = 0
        while !clients.withLock({ $0.isOver }) {
            turn()
            let count = clientCount
            if count != knownCount { configuration.onClientCount(count) }
            knownCount = count
        }
        clients.withLock { $0 = ServerClients() }
    }

    /// Waits until something happens, and serves the clients to whom it happens.
    private func turn() {
        let (sockets, deadline) = clients.withLock { $0.next() }
        let acceptsMore = sockets.count < maximumClients
        var polled = [
            pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener.descriptor, events: acceptsMore ? Int16(POLLIN) : 0, revents: 0),
        ]
        polled += sockets
        let timeout = deadline.map { ($0 - monotonicTime()).pollMilliseconds } ?? -1
        guard unsafe poll(&polled, nfds_t(polled.count), timeout) >= 0 else { return }
        waker.clear()
        clients.withLock { $0.serve(polled.dropFirst(2), configuration) }
        if polled[1].revents != 0 { accept() }
    }

    private func accept() {
        let accepted = unsafe SocketAddress.filled { unsafe Glibc.accept(listener.descriptor, $0, $1) }
        guard let (number, address) = accepted else {
            // The client has gone, or there is no descriptor for it, which would be so again at once.
            if errno != EAGAIN { pauseThread(for: .milliseconds(10)) }
            return
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        clients.withLock {
            $0.add(number, address.ip, places: maximumClients, maximumQueuedBytes: configuration.maximumQueuedBytes)
        }
    }

    /// Any thread: sends a text message to each client that is there.
    public func broadcast(_ message: [UInt8]) {
        let frame = FrameWriter.frame(.text, message, mask: nil)
        change { $0.broadcast(frame) }
    }

    /// Any thread.
    public var clientCount: Int { clients.withLock { $0.count } }

    /// Any thread: sends each client a close frame after what waits for it, and takes no new ones from then on.
    public func close(status: UInt16 = 1000) { change { $0.close(status: status) } }

    /// Any thread: closes with status 1001 and lets `run` return, a second later at most.
    public func stop() { change { $0.stop() } }

    private func change(_ change: @Sendable (inout ServerClients) -> Void) {
        clients.withLock { change(&$0) }
        waker.wake()
    }
}
