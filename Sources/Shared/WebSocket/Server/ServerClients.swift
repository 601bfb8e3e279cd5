internal import Glibc
internal import System

/// The clients of a server, also those before the end of their handshake; reached under the server's lock only.
///
/// A message is in memory once, however many clients wait for it.
struct ServerClients {
    /// Time that clients have to answer the close frame of `stop`.
    private static let closeTimeout: Duration = .seconds(1)

    /// Only the thread of `run` adds and removes connections.
    private var connections: [ServerConnection] = []
    /// The frames of the last greeting: one is mostly what the one before was.
    private var greeting: [[UInt8]] = []
    private var isClosing = false
    private var stopsAt: Duration?

    /// Number of clients whose handshake is done.
    var count: Int { connections.count { $0.isGreeted && !$0.isEnded } }

    /// Whether `stop` was called, and the clients are gone or have had their time.
    var isOver: Bool { stopsAt.map { count == 0 || monotonicTime() >= $0 } ?? false }

    /// Removes the connections that have ended; returns what to wait for, in the order of `serve`, and until when.
    mutating func next() -> (polled: [pollfd], deadline: Duration?) {
        connections.removeAll(where: \.isEnded)
        let polled = connections.map { connection in
            let events = connection.hasBytesToSend ? POLLIN | POLLOUT : POLLIN
            return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
        }
        let deadlines = connections.compactMap(\.deadline) + [stopsAt].compactMap(\.self)
        return (polled, deadlines.min())
    }

    /// Serves the clients to whom something has happened, and greets those that are new: no broadcast comes between.
    mutating func serve(_ polled: ArraySlice<pollfd>, _ configuration: WebSocketServerConfiguration) {
        let now = monotonicTime()
        for (connection, polled) in zip(connections, polled) {
            if polled.revents & Int16(POLLOUT) != 0 { connection.flush() }
            if polled.revents & ~Int16(POLLOUT) != 0 { connection.receive(configuration.headers) }
            connection.endIfDue(at: now)
        }
        let new = connections.filter { $0.isOpen && !$0.isGreeted }
        if new.isEmpty { return }
        let frames = configuration.greeting().map { FrameWriter.frame(.text, $0, mask: nil) }
        if frames != greeting { greeting = frames }
        for connection in new { connection.greet(with: greeting) }
    }

    /// Lets a client in, unless its address has half of the places already.
    mutating func add(_ socket: Int32, _ address: IPAddress, places: Int, maximumQueuedBytes: Int) {
        let connection = ServerConnection(
            FileDescriptor(owning: socket), client: address.client, maximumQueuedBytes: maximumQueuedBytes)
        let others = connections.count { $0.client == connection.client }
        if !isClosing, others < max(1, places / 2) { connections.append(connection) }
    }

    func broadcast(_ frame: [UInt8]) {
        for connection in connections where connection.isOpen {
            connection.send(frame)
            connection.flush()
        }
    }

    /// Closes all connections. From now on there are no new clients: one that comes back at once would be closed again.
    mutating func close(status: UInt16) {
        isClosing = true
        for connection in connections { connection.close(status: status) }
    }

    mutating func stop() {
        close(status: 1001)
        stopsAt = stopsAt ?? monotonicTime() + Self.closeTimeout
    }
}
