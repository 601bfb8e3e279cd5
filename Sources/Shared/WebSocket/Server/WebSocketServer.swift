internal import Glibc
internal import HTTPText
internal import Synchronization
public import System

/// A server that sends the same text messages to all clients: the feeds of this package. A client that is too slow is
/// disconnected, never waited for; messages of clients are ignored; one address has half of the places at most.
public final class WebSocketServer: Sendable {
    /// Time that clients have to answer the close frame of `stop`.
    private static let closeTimeout: Duration = .seconds(1)

    /// The port that it listens on, also when 0 was asked for.
    public let port: Int
    private let configuration: WebSocketServerConfiguration
    private let maximumClients: Int
    private let listener: ListeningSocket
    private let waker: Waker
    private let state = Mutex(State())

    private struct State {
        /// Also before the end of their handshake; only the thread of `run` adds and removes them.
        var connections: [ServerConnection] = []
        /// The frames of the last greeting, mostly those of the one before: a message is in memory once.
        var greeting: [[UInt8]] = []
        var isClosing = false
        var stopsAt: Duration?

        /// Number of clients whose handshake is done.
        var count: Int { connections.count { $0.isGreeted && !$0.isEnded } }
    }

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
        while !isOver {
            turn()
            let count = clientCount
            if count != knownCount { configuration.onClientCount(count) }
            knownCount = count
        }
        state.withLock { $0 = State() }
    }

    /// Whether `stop` was called, and the clients are gone or have had their time.
    private var isOver: Bool {
        state.withLock { state in state.stopsAt.map { state.count == 0 || monotonicTime() >= $0 } ?? false }
    }

    /// Waits until something happens, and serves the clients to whom it happens.
    private func turn() {
        let (sockets, deadline) = state.withLock { state in
            state.connections.removeAll(where: \.isEnded)
            let sockets = state.connections.map { connection in
                let events = connection.hasBytesToSend ? POLLIN | POLLOUT : POLLIN
                return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
            }
            return (sockets, (state.connections.map(\.deadline) + [state.stopsAt]).compactMap(\.self).min())
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

    /// Serves the clients to whom something has happened, and greets those that are new: no broadcast comes between.
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

    /// Lets a client in, unless its address has half of the places already.
    private func accept() {
        let accepted = unsafe SocketAddress.filled { unsafe Glibc.accept(listener.descriptor, $0, $1) }
        guard let (number, address) = accepted else {
            // The client has gone, or there is no descriptor for it, which would be so again at once.
            if errno != EAGAIN { pauseThread(for: .milliseconds(10)) }
            return
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        state.withLock { state in
            let connection = ServerConnection(
                FileDescriptor(owning: number), client: address.ip.client,
                maximumQueuedBytes: configuration.maximumQueuedBytes)
            let others = state.connections.count { $0.client == connection.client }
            if !state.isClosing, others < max(1, maximumClients / 2) { state.connections.append(connection) }
        }
    }

    // MARK: Any thread

    /// Sends a text message to each client that is there.
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

    /// Sends each client a close frame after what waits for it, and takes no new ones from then on: one that comes back
    /// at once would be closed again.
    public func close(status: UInt16 = 1000) {
        change { state in
            state.isClosing = true
            for connection in state.connections { connection.close(status: status) }
        }
    }

    /// Closes with status 1001 and lets `run` return, a second later at most.
    public func stop() {
        close(status: 1001)
        change { $0.stopsAt = $0.stopsAt ?? monotonicTime() + Self.closeTimeout }
    }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        waker.wake()
    }
}
