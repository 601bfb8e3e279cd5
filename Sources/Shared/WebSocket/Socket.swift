internal import CLibWebSockets
internal import Glibc
internal import System

/// What libwebsockets can say of a connection, as far as it matters.
enum SocketEvent: Equatable {
    /// The TCP connection is there: one of ours to a server, or one of a client's to us.
    case connected
    /// Bytes have arrived.
    case received
    case writable
    /// It can come more than once, and without `connected` before it.
    case ended

    /// Nil for what does not matter here: libwebsockets is not asked to speak HTTP, TLS or WebSocket.
    init?(_ reason: lws_callback_reasons) {
        switch reason {
        case LWS_CALLBACK_RAW_CONNECTED, LWS_CALLBACK_RAW_ADOPT: self = .connected
        case LWS_CALLBACK_RAW_RX: self = .received
        case LWS_CALLBACK_RAW_WRITEABLE: self = .writable
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR, LWS_CALLBACK_RAW_CLOSE, LWS_CALLBACK_WSI_DESTROY: self = .ended
        default: return nil
        }
    }
}

/// An `lws`: a socket in a context's loop. There from its first event, or from the dial that made it, until `ended`.
@safe struct Socket {
    private let wsi: OpaquePointer

    init(_ wsi: OpaquePointer) {
        unsafe self.wsi = wsi
    }

    /// Tells it from all other sockets that are there.
    var key: UInt { unsafe UInt(bitPattern: wsi) }

    /// What it was dialled with.
    var number: Int { unsafe Int(bitPattern: lws_get_opaque_user_data(wsi)) }

    /// Asks for one `writable`.
    func wantToWrite() {
        unsafe lws_callback_on_writable(wsi)
    }

    /// How many of the bytes the kernel has taken; nil when the connection is broken.
    ///
    /// Corresponds to `send`. `lws_write` keeps what the kernel does not take, and as long as it does, libwebsockets
    /// reads nothing and does not wait either: a peer that sends and never reads would take all of the processor.
    func send(_ bytes: Span<UInt8>) -> Int? {
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(
                lws_get_socket_fd(wsi), $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        if sent >= 0 { return sent }
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : nil
    }

    /// The peer reads the end of the stream behind what was sent.
    func endSending() {
        shutdown(unsafe lws_get_socket_fd(wsi), Int32(SHUT_WR))
    }

    /// It ends in that many seconds; nil = not by itself.
    func setDeadline(seconds: Int32?) {
        unsafe lws_set_timeout(wsi, seconds == nil ? NO_PENDING_TIMEOUT : PENDING_TIMEOUT_USER_OK, seconds ?? 0)
    }

    /// It ends in the loop's next turn, and not from within this call.
    func kill() {
        unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC)
    }

    /// Bytes on their way to a peer that does not acknowledge them end the connection after that long (tcp(7)).
    func setUserTimeout(_ timeout: Duration) {
        var milliseconds = timeout.pollMilliseconds
        let size = socklen_t(MemoryLayout.size(ofValue: milliseconds))
        _ = unsafe setsockopt(
            lws_get_socket_fd(wsi), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size)
    }
}

/// What is still to be sent on a socket.
struct SocketOutput {
    let socket: Socket
    private var waiting = WaitingBytes()
    private var isLast = false

    init(_ socket: Socket) {
        self.socket = socket
    }

    var byteCount: Int { waiting.count }
    var isEmpty: Bool { waiting.count == 0 }

    mutating func append(_ bytes: [UInt8]) {
        if isLast || bytes.isEmpty { return }
        waiting.append(bytes)
        socket.wantToWrite()
    }

    /// Sends as much as the kernel takes. When not all of it, `writable` comes again.
    mutating func flush() {
        while let piece = waiting.first {
            guard let sent = socket.send(piece.span) else { return socket.kill() }
            waiting.removeFirst(sent)
            guard sent == piece.count else { return socket.wantToWrite() }
        }
        if isLast { socket.endSending() }
    }

    /// Sends nothing after the pending bytes, and then lets the peer end the connection; the connection ends after
    /// `seconds` at the latest. If we closed it at once, unread bytes from the peer would turn the close into a reset,
    /// which can overtake the last bytes sent.
    mutating func end(within seconds: Int32) {
        isLast = true
        socket.setDeadline(seconds: seconds)
        socket.wantToWrite()
    }
}

/// Bytes that wait to be sent, in their order.
struct WaitingBytes {
    /// Smaller pieces are put together; larger ones are shared with who gave them.
    private static let pieceBytes = 16 << 10
    /// So many places of sent pieces are removed at once.
    private static let sentPlaces = 64

    private var pieces: [[UInt8]] = []
    /// The first piece of which something is left, and how much of it is sent.
    private var place = 0
    private var sent = 0
    private(set) var count = 0
    /// Those of sent pieces included.
    var placeCount: Int { pieces.count }

    mutating func append(_ bytes: [UInt8]) {
        count += bytes.count
        if place < pieces.count, let last = pieces.last, last.count + bytes.count <= Self.pieceBytes {
            pieces[pieces.count - 1] += bytes
        } else {
            pieces.append(bytes)
        }
    }

    /// What is left of the first piece; nil when nothing waits.
    var first: ArraySlice<UInt8>? { place < pieces.count ? pieces[place][sent...] : nil }

    /// - Parameter count: at most that of `first`.
    mutating func removeFirst(_ count: Int) {
        self.count -= count
        sent += count
        guard sent == pieces[place].count else { return }
        pieces[place] = []
        place += 1
        sent = 0
        // Also for a peer that is always a little behind, so that never all is sent.
        if place == pieces.count || place >= Self.sentPlaces {
            pieces.removeSubrange(..<place)
            place = 0
        }
    }
}
