internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization
internal import System

/// A connection and the request on it: HTTP/1.1 has one at a time.
///
/// The object lives until libmicrohttpd's notice that the connection has ended, which comes before the socket is
/// closed.
final class HTTPConnection: @unchecked Sendable {
    // @unchecked: `phase` and `hasHadRequest` are touched by the callbacks of the connection only, which come one after
    // another. What other threads read is constant or atomic; `stream` changes under the lock of `ConnectionTable`.
    let handle: MHDConnection
    let socket: Int32
    let peer: IPAddress
    /// The unit that limits count by: see `IPAddress.client`.
    let client: [UInt8]
    /// The handshake of its TLS session; `nil`: plain HTTP.
    let tls: TLSHandshake?
    var phase = Phase.idle
    var hasHadRequest = false
    /// The events that are being sent.
    var stream: HTTPStream?
    private let state: Atomic<Int64>

    enum Phase {
        /// Before the first request, or between two.
        case idle
        /// The request line has come.
        case header(HTTPRequestTarget, bytes: Int)
        /// The header has come, and no content follows.
        case complete(HTTPRequest)
        case responding(Exchange)
    }

    /// A request from the end of its header to the end of its response.
    struct Exchange {
        /// `nil` of a request that is rejected for its header.
        var request: HTTPRequest?
        /// The route that has counted the request.
        var route: Route?
        var holdsLimit = false
        var status: Int?
        /// Bytes of content that are counted until they are sent.
        var countedBytes = 0
        /// Whether the end of the server waits for its end: not of events.
        var isAwaited = true
    }

    init(_ handle: MHDConnection, tls: TLSHandshake?, deadline: Duration) {
        self.handle = handle
        self.tls = tls
        socket = handle.socket
        peer = peerAddress(of: socket)
        client = peer.client
        state = Atomic(-deadline.milliseconds)
    }

    /// Changes the exchange under way; nothing happens when there is none.
    func updateExchange(_ change: (inout Exchange) -> Void) {
        guard case .responding(var exchange) = phase else { return }
        change(&exchange)
        phase = .responding(exchange)
    }

    /// Whether the request under way asks for no content.
    var isHead: Bool {
        if case .responding(let exchange) = phase { exchange.request?.method == "HEAD" } else { false }
    }

    // MARK: - Deadlines

    // One word, so that a sweep sees both: milliseconds of the deadline, negative while the connection is idle.

    /// Sets when the connection is shut down unless it has gone on; `nil`: never. For the connection's thread.
    func setDeadline(_ time: Duration?, isIdle: Bool = false) {
        let milliseconds = time?.milliseconds ?? .max
        state.store(isIdle ? -milliseconds : milliseconds, ordering: .relaxed)
    }

    /// Whether it is between two requests, or before the first.
    var isIdle: Bool { state.load(ordering: .relaxed) < 0 }

    /// Milliseconds of the monotonic clock.
    var deadline: Int64 { abs(state.load(ordering: .relaxed)) }

    func isOverdue(at now: Duration) -> Bool { deadline < now.milliseconds }

    // MARK: - The end

    /// Ends the connection; libmicrohttpd notices and cleans up. Does not block. Corresponds to `shutdown`.
    func shutDown() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

    /// Ends it and discards what the kernel has still to send.
    func abort() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        shutDown()
    }

    /// Bounds what the kernel keeps for a client that does not read: twice as much. Corresponds to `SO_SNDBUF`.
    func limitSendBuffer() {
        var bytes: Int32 = 128 * 1024
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// The address of a socket's peer; none of a Unix socket. Corresponds to `getpeername`.
private func peerAddress(of socket: Int32) -> IPAddress {
    unsafe SocketAddress.filled { unsafe getpeername(socket, $0, $1) }?.address.ip ?? IPAddress(bytes: [])
}
