internal import Glibc

/// Accepts connections on its own thread, hands them to the daemon, and hangs up on those that are overdue.
final class HTTPAcceptor: Sendable {
    private let sockets: [ListeningSocket]
    private let intake: HTTPDaemon.Intake
    private let connections: HTTPConnections
    private let sweepInterval: Duration
    private let stopped: Bell

    init(
        sockets: [ListeningSocket], intake: HTTPDaemon.Intake, connections: HTTPConnections, limits: HTTPLimits
    ) throws(TransportError) {
        self.sockets = sockets
        self.intake = intake
        self.connections = connections
        let shortest = min(limits.requestTimeout, limits.idleTimeout, limits.answerTimeout)
        sweepInterval = min(max(shortest / 4, .milliseconds(20)), .seconds(1))
        stopped = try Bell()
    }

    /// Blocks until `stop`.
    func run() {
        var nextSweep = monotonicTime() + sweepInterval
        var isShortOfResources = false
        while true {
            // Without connections nothing can be overdue, and nothing wakes this thread.
            let mustWake = isShortOfResources || !connections.isEmpty
            let wait = mustWake ? max(nextSweep - monotonicTime(), .zero) : nil
            let ready = waitForSockets(wait, accepting: !isShortOfResources)
            if ready.isStopped { return }
            isShortOfResources = !ready.sockets.allSatisfy(acceptAll)
            let now = monotonicTime()
            if now >= nextSweep {
                connections.hangUpOnOverdue(at: .now)
                nextSweep = now + sweepInterval
                isShortOfResources = false
            }
        }
    }

    /// Any thread.
    func stop() {
        stopped.ring()
    }

    /// Corresponds to `poll`.
    private func waitForSockets(_ wait: Duration?, accepting: Bool) -> (isStopped: Bool, sockets: [ListeningSocket]) {
        var waited = [pollfd(fd: stopped.descriptor, events: Int16(POLLIN), revents: 0)]
        if accepting {
            waited += sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        }
        let result = unsafe poll(&waited, nfds_t(waited.count), wait?.pollMilliseconds ?? -1)
        guard result > 0 else { return (false, []) }
        let ready = zip(sockets, waited.dropFirst()).filter { $0.1.revents != 0 }.map(\.0)
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
