internal import Glibc
internal import HTTPText
internal import Synchronization
public import System

/// A server that broadcasts text messages, used by the feeds of this package. Clients that cannot keep up are
/// disconnected; messages from clients are ignored; one client address may hold at most half of all connections.
public final class WebSocketServer: Sendable {
    /// How long clients may take to respond to the close frame of `stop`.
    private static let closeTimeout: Duration = .seconds(1)

    /// The actual port, also when port 0 was requested.
    public let port: Int
    private let configuration: WebSocketServerConfiguration
    private let maximumClients: Int
    private let listener: ListeningSocket
    private let waker: Waker
    private let state = Mutex(State())

    private struct State {
        /// Includes clients that are still in the handshake; only the thread of `run` adds and removes them.
        var connections: [ServerConnection] = []
        /// Frames of the latest greeting; an equal one reuses them, so its messages are in memory only once.
        var greeting: [[UInt8]] = []
        var isClosing = false
        var stopsAt: Duration?

        var count: Int { connections.count { $0.isGreeted && !$0.isEnded } }
        /// When the next client is due or the server stops; `nil` if there is no such time.
        var deadline: Duration? { (connections.map(\.deadline) + [stopsAt]).compactMap(\.self).min() }
    }

    /// Starts listening; clients are served once `run` is called. The error names an address that cannot be bound.
    public init(_ configuration: WebSocketServerConfiguration) throws(SystemError) {
        self.configuration = configuration
        maximumClients = OpenFileLimit.raise(forConnections: 1024)
        waker = try Waker()
        listener = try ListeningSocket.open(configuration.address)
        port = if case .tcp(_, let port) = listener.address { port } else { 0 }
    }

    /// Serves clients on the calling thread until `stop`. Call it only once.
    public func run() {
        var knownCount = 0
        while !isOver {
            turn()
            let count = clientCount
            if count != knownCount { configuration.onClientCount(count) }
            knownCount = count
        }
        state.withLock { $0 = State() }
    }

    private var isOver: Bool {
        state.withLock { state in
            guard let stopsAt = state.stopsAt else { return false }
            return state.count == 0 || monotonicTime() >= stopsAt
        }
    }

    /// Waits for the next event or deadline and serves the clients concerned.
    private func turn() {
        let (sockets, deadline) = state.withLock { state in
            state.connections.removeAll(where: \.isEnded)
            let sockets = state.connections.map { connection in
                let events = connection.hasBytesToSend ? POLLIN | POLLOUT : POLLIN
                return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
            }
            return (sockets, state.deadline)
        }
        let acceptsMore = sockets.count < maximumClients
        var polled = [
            pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener.descriptor, events: acceptsMore ? Int16(POLLIN) : 0, revents: 0),
        ]
        polled += sockets
        let timeout = deadline.map { ($0 - monotonicTime()).pollMilliseconds } ?? -1
        guard unsafe poll(&polled, nfds_t(polled.count), timeout) >= 0 else { return }
        waker.clear()
        serve(polled[2...])
        if polled[1].revents != 0 { accept() }
    }

    /// Serves clients with pending events and greets new ones, with no broadcast in between.
    private func serve(_ polled: ArraySlice<pollfd>) {
        let now = monotonicTime()
        state.withLock { state in
            for (connection, polled) in zip(state.connections, polled) {
                if polled.revents & Int16(POLLOUT) != 0 { connection.flush() }
                if polled.revents & ~Int16(POLLOUT) != 0 { connection.receive(configuration.headers) }
                connection.endIfDue(at: now)
            }
            let new = state.connections.filter { $0.isOpen && !$0.isGreeted }
            if new.isEmpty { return }
            let frames = configuration.greeting().map { FrameWriter.frame(.text, $0, mask: nil) }
            if frames != state.greeting { state.greeting = frames }
            for connection in new { connection.greet(with: state.greeting) }
        }
    }

    /// Accepts a client, unless its address already holds half of all connections.
    private func accept() {
        let (number, address): (Int32, SocketAddress)
        do throws(ErrorNumber) {
            (number, address) = try unsafe SocketAddress.filled { unsafe Glibc.accept(listener.descriptor, $0, $1) }
        } catch {
            // The client is gone, or no descriptor is free, in which case an immediate retry would fail too.
            if error.code != EAGAIN { pauseThread(for: .milliseconds(10)) }
            return
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        // Limits what the kernel buffers for a client that does not read, which is twice this value.
        var bytes: Int32 = 128 << 10
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        state.withLock { state in
            let connection = ServerConnection(
                FileDescriptor(owning: number), client: address.ip.client,
                maximumQueuedBytes: configuration.maximumQueuedBytes)
            let others = state.connections.count { $0.client == connection.client }
            if !state.isClosing, others < max(1, maximumClients / 2) { state.connections.append(connection) }
        }
    }

    // MARK: Any thread

    /// Sends a text message to every connected client.
    public func broadcast(_ message: [UInt8]) {
        let frame = FrameWriter.frame(.text, message, mask: nil)
        change { state in
            for connection in state.connections where connection.isOpen {
                connection.send(frame)
                connection.flush()
            }
        }
    }

    public var clientCount: Int { state.withLock(\.count) }

    /// Sends a close frame after the queued messages. Accepts no new clients: they would be closed again at once.
    public func close(status: UInt16 = 1000) {
        change { state in
            state.isClosing = true
            for connection in state.connections { connection.close(status: status) }
        }
    }

    /// Closes with status 1001; `run` returns within a second.
    public func stop() {
        close(status: 1001)
        change { $0.stopsAt = $0.stopsAt ?? monotonicTime() + Self.closeTimeout }
    }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        waker.wake()
    }
}
