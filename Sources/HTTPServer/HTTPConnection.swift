internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization

/// One connection and the request on it: HTTP/1.1 has one at a time.
///
/// It lives from libmicrohttpd's notice that the connection began to the one that it ended, which comes before the
/// socket is closed.
final class HTTPConnection: @unchecked Sendable {
    // @unchecked: the variables of the request are touched by libmicrohttpd's callbacks only, and all callbacks of a
    // connection come from one thread. What other threads read is constant or atomic.
    let socket: Int32
    /// What the connection's TLS session points into; nil: plain HTTP.
    let tls: TLSContext?
    private let deadline: Atomic<Int64>

    /// Where the current request stands.
    enum Phase {
        case idle
        /// The request line has come.
        case header
        /// The header has come, and no content follows.
        case complete
        /// libmicrohttpd waits until the password is checked.
        case suspended
        case answered
        /// The answer is a stream, which may never end; nobody waits for it.
        case streaming
    }

    /// What became of the password of a suspended request; written by another thread before it resumes the connection.
    enum Verdict: UInt8, AtomicRepresentable {
        case accepted
        case refused
        case unavailable
    }

    var phase = Phase.idle
    var target = HTTPRequestTarget.malformed
    var isMetered = false
    let verdict = Atomic(Verdict.unavailable)
    /// Of the answer under way.
    var status: Int?

    init(socket: Int32, tls: TLSContext?, deadline: CoarseTime) {
        self.socket = socket
        self.tls = tls
        self.deadline = Atomic(deadline.milliseconds)
    }

    /// The connection of libmicrohttpd's handle, between the notices of its beginning and its end.
    static func of(_ handle: OpaquePointer) -> HTTPConnection? {
        unsafe CLibMicroHTTPD_socket_context(handle).map {
            unsafe Unmanaged<HTTPConnection>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Hangs up when the current phase takes longer.
    func setDeadline(_ time: CoarseTime) {
        deadline.store(time.milliseconds, ordering: .relaxed)
    }

    /// So that a slow reader is noticed after little, and costs the system little. Corresponds to `SO_SNDBUF`.
    func limitSendBuffer() {
        var bytes: Int32 = 64 * 1024
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    func isOverdue(at now: CoarseTime) -> Bool {
        deadline.load(ordering: .relaxed) < now.milliseconds
    }
}

/// A point of the monotonic clock, a few milliseconds exact and cheap to read (`CLOCK_MONOTONIC_COARSE`).
struct CoarseTime: Comparable {
    let milliseconds: Int64

    static var now: CoarseTime {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return CoarseTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    static func + (time: CoarseTime, milliseconds: Int64) -> CoarseTime {
        CoarseTime(milliseconds: time.milliseconds + milliseconds)
    }

    static func < (one: CoarseTime, other: CoarseTime) -> Bool {
        one.milliseconds < other.milliseconds
    }
}
