internal import Glibc
internal import Synchronization
internal import System

/// Accepts connections on its own thread, hands them to the daemon, and hangs up on those that are overdue.
final class HTTPAcceptor: Sendable {
    private let listening: Mutex<[ListeningSocket]>
    private let intake: HTTPDaemon.Intake
    private let connections: HTTPConnections
    private let sweepInterval: Duration
    private let stopped: WakePipe

    init(
        sockets: [ListeningSocket], intake: HTTPDaemon.Intake, connections: HTTPConnections, limits: HTTPLimits
    ) throws(SystemError) {
        listening = Mutex(sockets)
        self.intake = intake
        self.connections = connections
        let shortest = min(limits.requestTimeout, limits.idleTimeout, limits.answerTimeout)
        sweepInterval = min(max(shortest / 4, .milliseconds(20)), .seconds(1))
        stopped = try WakePipe()
    }

    /// Blocks until `stop`, and has closed the listening sockets when it returns.
    func run() {
        let sockets = listening.withLock { $0 }
        var nextSweep = monotonicTime() + sweepInterval
        var isShortOfResources = false
        while true {
            // Without connections nothing can be overdue, and nothing wakes this thread.
            let mustWake = isShortOfResources || !connections.isEmpty
            let wait = mustWake ? max(nextSweep - monotonicTime(), .zero) : nil
            let ready = waitForSockets(isShortOfResources ? [] : sockets, wait)
            if ready.isStopped { break }
            isShortOfResources = !ready.sockets.allSatisfy(acceptAll)
            let now = monotonicTime()
            if now >= nextSweep {
                connections.hangUpOnOverdue(at: .now)
                nextSweep = now + sweepInterval
                isShortOfResources = false
            }
        }
        listening.withLock { $0 = [] }
    }

    /// Any thread.
    func stop() {
        stopped.wake()
    }

    /// Corresponds to `poll`.
    private func waitForSockets(
        _ sockets: [ListeningSocket], _ wait: Duration?
    ) -> (isStopped: Bool, sockets: [ListeningSocket]) {
        let wakeUps = [stopped.descriptor, connections.appeared.descriptor]
        var waited = (wakeUps + sockets.map(\.descriptor)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let result = unsafe poll(&waited, nfds_t(waited.count), wait?.pollMilliseconds ?? -1)
        guard result > 0 else { return (false, []) }
        connections.appeared.clear()
        let ready = zip(sockets, waited.dropFirst(wakeUps.count)).filter { $0.1.revents != 0 }.map(\.0)
        return (waited[0].revents != 0, ready)
    }

    /// False when the process or the machine has no room for another connection: accepting would fail again at once.
    private func acceptAll(of socket: ListeningSocket) -> Bool {
        while true {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let accepted = unsafe withUnsafeMutablePointer(to: &storage) { storage in
                unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    // libmicrohttpd makes the socket non-blocking and close-on-exec.
                    let accepted = unsafe accept(socket.descriptor, address, &length)
                    if accepted >= 0 { unsafe intake.add(accepted, from: address, length: length) }
                    return accepted
                }
            }
            if accepted >= 0 { continue }
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
            case EINTR, ECONNABORTED: continue
            default: return true
            }
        }
    }
}
