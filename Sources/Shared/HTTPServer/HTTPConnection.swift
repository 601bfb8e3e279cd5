internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization
internal import System

/// A connection and its current request; HTTP/1.1 has one at a time. Lives until libmicrohttpd reports the end of the
/// connection, which happens before the socket is closed.
@safe final class HTTPConnection: RequestLimit.Holder, @unchecked Sendable {
    // @unchecked: only callbacks, which do not overlap, use `pointer`, `phase` and `isPaced`; the rest is constant or
    // locked.
    let pointer: OpaquePointer
    let socket: Int32
    let peer: IPAddress
    /// Key for per-client limits; see `IPAddress.client`.
    let client: [UInt8]
    /// `nil` for plain HTTP.
    let tls: TLSHandshake?
    var phase = Phase.new
    /// Whether to pause after each request; see ``HTTPLimits/unpacedConnectionsPerClient``.
    var isPaced = false
    private let state: Mutex<Progress>

    /// State that other threads read.
    struct Progress {
        static let never = Duration.seconds(1 << 40)

        /// Monotonic time at which the connection is shut down without progress.
        var deadline = never
        /// Whether no request is waiting for its response; one whose header is still arriving does not count.
        var isIdle = true
        var stream: HTTPStream?
        /// When the response was handed over, and how much of a large one has been taken since.
        var sendingSince: Duration?
        var sentBytes = 0

        func isOverdue(at now: Duration) -> Bool { deadline < now }

        /// See ``HTTPLimits/readingPace``.
        func lag(at now: Duration) -> Duration? {
            guard let sendingSince else { return nil }
            let lag = now - sendingSince - HTTPLimits.readingGrace - .seconds(sentBytes) / HTTPLimits.readingPace
            return lag > .zero ? lag : nil
        }
    }

    enum Phase {
        /// Before the first request.
        case new
        case betweenRequests
        /// The request line has arrived, with this target.
        case header([UInt8])
        /// The header has arrived, and no content follows; the route is `nil` if none matches.
        case complete(HTTPRequest, Route?)
        case responding(Exchange)
    }

    /// A response that is being sent, with what must be given back at its end.
    struct Exchange {
        var isHead = false
        var status = 0
        var meter: HTTPMeter?
        var permits: [RequestLimit.Permit] = []
    }

    /// - Parameters:
    ///   - configuration: `nil` for plain HTTP.
    ///   - computing: see `TLSHandshake`.
    init(_ pointer: OpaquePointer, tls configuration: TLSConfiguration?, computing: Monitor<Set<[UInt8]>>) {
        unsafe self.pointer = pointer
        socket = unsafe CLibMicroHTTPD_info(pointer, .CONNECTION_INFO_CONNECTION_FD).connect_fd
        let socket = socket
        let remote = try? unsafe SocketAddress.filled { unsafe getpeername(socket, $0, $1) }
        peer = remote?.address.ip ?? IPAddress(bytes: [])
        client = peer.client
        let session = unsafe CLibMicroHTTPD_info(pointer, .CONNECTION_INFO_GNUTLS_SESSION).tls_session
        if let configuration, let session = unsafe session {
            tls = unsafe TLSHandshake(
                OpaquePointer(session), on: socket, of: client, as: configuration, computing: computing)
        } else {
            tls = nil
        }
        state = Mutex(Progress(deadline: monotonicTime() + HTTPLimits.requestTime))
        var bytes = Int32(HTTPLimits.sendBuffer)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Changed by the connection's thread only.
    var progress: Progress {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }

    func lag(at now: Duration) -> Duration? { progress.lag(at: now) }

    // MARK: - Ending

    func giveWay() {
        if let stream = progress.stream { stream.end() } else { abort() }
    }

    /// Ends the connection without blocking; libmicrohttpd notices and cleans up. Corresponds to `shutdown`.
    func shutDown() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

    /// Ends the connection, and discards what the kernel has not yet sent.
    func abort() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        shutDown()
    }

    /// Whether the peer has closed its side or the whole connection. Does not block.
    var hasPeerLeft: Bool {
        // POLLRDHUP, which glibc's headers define only with `_GNU_SOURCE`.
        var entry = pollfd(fd: socket, events: 0x2000, revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }
}
