internal import Glibc
internal import Synchronization
internal import System

/// Accepts connections on its own thread, hands them to the daemon, and closes those that are overdue.
final class HTTPAcceptor: Sendable {
    private let listening: Mutex<[ListeningSocket]>
    private let intake: HTTPDaemon.Intake
    private let service: HTTPService
    private let heartbeatInterval: Duration
    private let sweepInterval: Duration
    private let stopped: WakePipe

    private var connections: HTTPConnections { service.connections }

    init(
        sockets: [ListeningSocket], intake: HTTPDaemon.Intake, service: HTTPService, limits: HTTPLimits
    ) throws(SystemError) {
        listening = Mutex(sockets)
        self.intake = intake
        self.service = service
        heartbeatInterval = limits.heartbeatInterval
        let shortest = min(limits.requestTimeout, limits.idleTimeout, limits.responseTimeout)
        sweepInterval = min(max(shortest / 4, .milliseconds(20)), .seconds(1))
        stopped = try WakePipe()
    }

    /// Blocks until `stop`, and has closed the listening sockets when it returns.
    func run() {
        let sockets = listening.withLock { $0 }
        var nextSweep = monotonicTime() + sweepInterval
        var nextHeartbeat = monotonicTime()
        var isShortOfResources = false
        while true {
            // Without connections nothing can be overdue.
            let mustSweep = isShortOfResources || !connections.isEmpty
            let wake = mustSweep ? min(nextSweep, nextHeartbeat) : nextHeartbeat
            let ready = waitForSockets(isShortOfResources ? [] : sockets, max(wake - monotonicTime(), .zero))
            if ready.isStopped { break }
            isShortOfResources = !ready.sockets.allSatisfy(acceptSome)
            let now = monotonicTime()
            if now >= nextSweep {
                connections.hangUpOnOverdue(at: now)
                nextSweep = now + sweepInterval
                isShortOfResources = false
            }
            if now >= nextHeartbeat {
                service.releaseMemory()
                service.heartbeat.begin(on: connections, intake)
                nextHeartbeat = now + heartbeatInterval
            }
        }
        listening.withLock { $0 = [] }
    }

    /// Any thread.
    func stop() { stopped.wake() }

    /// Corresponds to `poll`.
    private func waitForSockets(
        _ sockets: [ListeningSocket], _ wait: Duration
    ) -> (isStopped: Bool, sockets: [ListeningSocket]) {
        var waited = ([stopped.descriptor] + sockets.map(\.descriptor)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let result = unsafe poll(&waited, nfds_t(waited.count), wait.pollMilliseconds)
        guard result > 0 else { return (false, []) }
        let ready = zip(sockets, waited.dropFirst()).filter { $0.1.revents != 0 }.map(\.0)
        return (waited[0].revents != 0, ready)
    }

    /// Accepted before anything else is looked at: more wait their turn.
    private static let maximumAtOnce = 64

    /// False when the process or the machine has no room for another connection: accepting would fail again at once.
    private func acceptSome(of socket: ListeningSocket) -> Bool {
        for _ in 0..<Self.maximumAtOnce {
            if let (accepted, address) = unsafe SocketAddress.filled(by: { unsafe accept(socket.descriptor, $0, $1) }) {
                handOver(accepted, from: address)
                continue
            }
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
            case EINTR, ECONNABORTED: continue
            default: return true
            }
        }
        return true
    }

    /// Closes the connection if there are too many. libmicrohttpd makes the socket non-blocking and close-on-exec.
    private func handOver(_ socket: Int32, from address: SocketAddress) {
        let connection = service.connection(on: socket, from: address.ip)
        guard connections.admit(connection) else {
            close(socket)
            return
        }
        if !intake.add(socket, from: address) { connections.remove(connection) }
    }
}
