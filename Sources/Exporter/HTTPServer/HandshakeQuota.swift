internal import Glibc
internal import Synchronization
internal import System

/// Limits how much of the serving thread's time the TLS handshakes of one client take: a signature with RSA takes as long
/// as many scrapes. Beyond it handshakes wait, and beyond a number of those they fail.
///
/// What handshakes cost is measured, and a client's debt decays at a part of real time.
final class HandshakeQuota: Sendable {
    private let clients = Mutex<[[UInt8]: Client]>([:])

    private struct Client {
        /// When its debt is paid; nanoseconds of the monotonic clock.
        var debtEnd: Int64 = 0
        var waiting = 0
    }

    /// A client has the serving thread for one in so many nanoseconds.
    static let share: Int64 = 4
    /// Nanoseconds of work that may be owed when the next handshake goes on.
    static let burst: Int64 = 20_000_000
    /// Each takes a little of each turn of the serving thread.
    static let maximumWaiting = 256

    /// Clients that are remembered.
    var count: Int { clients.withLock { $0.count } }

    /// Whether a handshake may go on now.
    func isOpen(_ client: [UInt8], now: Int64 = monotonicNanoseconds()) -> Bool {
        clients.withLock { ($0[client]?.debtEnd ?? 0) - now <= Self.burst * Self.share }
    }

    /// Counts the time that a handshake has taken.
    func charge(_ client: [UInt8], nanoseconds: Int64, now: Int64 = monotonicNanoseconds()) {
        clients.withLock { clients in
            if clients.count > 1024 { clients = clients.filter { $0.value.debtEnd > now || $0.value.waiting > 0 } }
            let start = max(clients[client]?.debtEnd ?? 0, now)
            clients[client, default: Client()].debtEnd = start + nanoseconds * Self.share
        }
    }

    /// Counts one more that waits; false when there are too many.
    func wait(_ client: [UInt8]) -> Bool {
        clients.withLock { clients in
            guard clients[client, default: Client()].waiting < Self.maximumWaiting else { return false }
            clients[client, default: Client()].waiting += 1
            return true
        }
    }

    func endWait(_ client: [UInt8]) {
        clients.withLock { $0[client]?.waiting -= 1 }
    }
}

/// What the calling thread has used of a processor (`CLOCK_THREAD_CPUTIME_ID`).
func threadNanoseconds() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
