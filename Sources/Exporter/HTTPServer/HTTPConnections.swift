internal import Glibc
internal import Synchronization
internal import System

/// One connection and the request on it: HTTP/1.1 has one at a time.
///
/// It lives from libmicrohttpd's notice that the connection began to the one that it ended, which comes before the
/// socket is closed.
final class HTTPConnection: @unchecked Sendable {
    // @unchecked: the variables of the request are touched by libmicrohttpd's callbacks only, and all callbacks of a
    // connection come from one thread. What other threads read is constant or atomic.
    let socket: Int32
    let peer: PeerAddress
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
    var targetBytes = 0
    var isMetered = false
    /// The answer is one of those that are limited because of their size.
    var isLarge = false
    /// The answer is one of those that are limited because they are made while they are sent.
    var isDocument = false
    /// The request asks for no content.
    var isHead = false
    let verdict = Atomic(Verdict.unavailable)
    /// Of the answer under way.
    var status: Int?
    /// Of the request under way.
    var headerBytes = 0
    /// Of all requests before it.
    var headerBytesBefore = 0
    /// What the client had acknowledged when the answer under way began; nil when that was not asked.
    var acknowledgedBefore: Int?

    init(socket: Int32, peer: PeerAddress, tls: TLSContext?, deadline: CoarseTime) {
        self.socket = socket
        self.peer = peer
        self.tls = tls
        self.deadline = Atomic(deadline.milliseconds)
    }

    /// Hangs up when the current phase takes longer.
    func setDeadline(_ time: CoarseTime) {
        deadline.store(time.milliseconds, ordering: .relaxed)
    }

    func isOverdue(at now: CoarseTime) -> Bool {
        deadline.load(ordering: .relaxed) < now.milliseconds
    }

    /// So that a slow client is noticed after little, and costs the system little. Corresponds to `SO_SNDBUF`.
    func limitSendBuffer() {
        var bytes: Int32 = 64 * 1024
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Ends the connection; libmicrohttpd notices and cleans up. Does not block.
    func hangUp() {
        _ = shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Like `hangUp`, but also discards unsent data in the kernel.
    func abort() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        hangUp()
    }

    /// Whether the client takes less than so many bytes a second of an answer that has been under way for a second.
    func isSlow(since start: CoarseTime, minimumRate: Int, now: CoarseTime) -> Bool {
        let milliseconds = now.milliseconds - start.milliseconds
        guard milliseconds >= 1000 else { return false }
        guard let acknowledgedBefore, let information = TCPInformation(of: socket) else { return true }
        return information.acknowledgedBytes - acknowledgedBefore < Int(milliseconds) * minimumRate / 1000
    }
}

/// The open connections of a server, to hang up on those that are overdue.
final class HTTPConnections: Sendable {
    private let open = Mutex<[Int32: HTTPConnection]>([:])
    /// Woken when there is a connection after there was none: from then on one can be overdue.
    let appeared: WakePipe
    /// The answers that stay open.
    let streams = HTTPStreams()

    init() throws(SystemError) {
        appeared = try WakePipe()
    }

    func insert(_ connection: HTTPConnection) {
        let isFirst = open.withLock { connections in
            connections[connection.socket] = connection
            return connections.count == 1
        }
        if isFirst { appeared.wake() }
    }

    func remove(_ connection: HTTPConnection) {
        _ = open.withLock { $0.removeValue(forKey: connection.socket) }
    }

    var isEmpty: Bool {
        open.withLock { $0.isEmpty }
    }

    /// Nil when it has ended.
    subscript(socket: Int32) -> HTTPConnection? {
        open.withLock { $0[socket] }
    }

    func hangUpOnOverdue(at now: CoarseTime) {
        streams.endDeserted()
        open.withLock { connections in
            // Under the lock although it is a call of C: the connection leaves the table before its socket is closed,
            // so the number is still this connection's.
            for connection in connections.values where connection.isOverdue(at: now) { connection.hangUp() }
        }
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

/// What the kernel knows of a TCP connection (`TCP_INFO` of tcp(7)).
struct TCPInformation {
    /// Bytes of content that the peer has acknowledged.
    var acknowledgedBytes: Int
    /// Bytes of content that have come, read or not.
    var receivedBytes: Int

    /// Nil for a socket that is none of TCP.
    init?(of socket: Int32) {
        // `struct tcp_info` of linux/tcp.h up to `tcpi_bytes_received`; glibc's ends before.
        var words = InlineArray<17, UInt64>(repeating: 0)
        var length = socklen_t(MemoryLayout.size(ofValue: words))
        let result = unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &words, &length)
        guard result == 0, Int(length) == MemoryLayout.size(ofValue: words) else { return nil }
        acknowledgedBytes = Int(clamping: words[15])
        receivedBytes = Int(clamping: words[16])
    }
}
