internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization

/// Content of an answer that comes as it is made: the connection sleeps while there is nothing to send. The server asks for
/// more when it can send more, so a slow client costs no memory.
///
/// - Events have no end. A client that takes nothing for `HTTPLimits.streamTimeout` is hung up on; SIGTERM ends all such
///   streams at once.
/// - A document has an end: it is an answer like any other, but of unknown length. At most `HTTPLimits.maximumDocuments`
///   are under way. One that cannot be sent to its end is broken off, so that its client notices.
public final class HTTPStream: Sendable {
    public enum Content: Sendable {
        /// At most as many as were asked for, at least one.
        case bytes(ArraySlice<UInt8>)
        /// Nothing now: ask again after the next `wake()`.
        case none
        case end
    }

    let isDocument: Bool
    private let read: @Sendable (_ maximum: Int) -> Content
    private let onEnd: @Sendable () -> Void
    private let state = Mutex(State())

    private struct State: Sendable {
        /// nil before the answer is queued, and once the connection is done with it. Suspended, it stays until it is
        /// resumed: `HTTPStreams` has all of them resumed before the daemon stops.
        var connection: MHDConnection?
        var isSuspended = false
        var http: HTTPConnection?
        var patience = Patience()
        /// `wake` was called since the last time that `read` was.
        var isAwake = false
        var isEnded = false
    }

    /// How long a client may take.
    struct Patience: Sendable {
        /// Milliseconds for what is sent now.
        var perPiece: Int64 = 0
        /// For all that is sent since then, milliseconds, and more for each byte.
        var whole: (since: CoarseTime, time: Int64, perByte: Double)?
        var sentBytes = 0
    }

    /// - Parameters:
    ///   - isDocument: a document, which ends; false: events.
    ///   - read: called on the server's thread, so it must not block.
    ///   - onEnd: called once when no more will be asked for, on the server's thread; never when the stream was refused.
    public init(
        isDocument: Bool = false, read: @escaping @Sendable (_ maximum: Int) -> Content,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.isDocument = isDocument
        self.read = read
        self.onEnd = onEnd
    }

    /// There is more to read; any thread.
    public func wake() {
        state.withLock { state in
            state.isAwake = true
            resume(&state)
        }
    }

    /// Ends the answer as soon as its client has taken what was sent; any thread.
    public func end() {
        state.withLock { state in
            state.isEnded = true
            resume(&state)
        }
    }

    private func resume(_ state: inout State) {
        guard state.isSuspended, let connection = state.connection else { return }
        state.isSuspended = false
        connection.resume()
    }

    // MARK: What libmicrohttpd's callbacks call

    func begin(on http: HTTPConnection, _ connection: MHDConnection, patience: Patience) {
        state.withLock { state in
            state.connection = connection
            state.http = http
            state.patience = patience
        }
    }

    /// How many bytes were written, or one of libmicrohttpd's `MHD_CONTENT_READER_END_…`.
    fileprivate func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let isEnded = state.withLock { state in
                state.isAwake = false
                return state.isEnded
            }
            guard !isEnded else { return isDocument ? Self.endWithError : Self.endOfStream }
            switch read(buffer.count) {
            case .bytes(let bytes):
                unsafe buffer.copyBytes(from: bytes)
                setDeadline(sending: bytes.count)
                return bytes.count
            case .end:
                return Self.endOfStream
            case .none:
                if suspend() { return 0 }
            }
        }
    }

    /// False when there is something to do after all. Corresponds to `MHD_suspend_connection`, which may be called
    /// from the content reader.
    private func suspend() -> Bool {
        state.withLock { state in
            guard !state.isAwake, !state.isEnded, let connection = state.connection else { return false }
            state.isSuspended = true
            // No deadline while no event is pending.
            if !isDocument { state.http?.setDeadline(CoarseTime(milliseconds: .max)) }
            connection.suspend()
            return true
        }
    }

    /// When the client must have taken what it is sent now.
    private func setDeadline(sending count: Int) {
        state.withLock { state in
            guard let whole = state.patience.whole else {
                state.http?.setDeadline(.now + state.patience.perPiece)
                return
            }
            state.patience.sentBytes += count
            state.http?.sentBytes += count
            state.http?.setDeadline(
                whole.since + whole.time + Int64(Double(state.patience.sentBytes) * whole.perByte))
        }
    }

    /// `MHD_CONTENT_READER_END_OF_STREAM`, a cast in C.
    private static let endOfStream = -1
    /// `MHD_CONTENT_READER_END_WITH_ERROR`.
    static let endWithError = -2

    fileprivate func finish() {
        state.withLock { state in
            state.connection = nil
            state.http = nil
            state.isSuspended = false
        }
        onEnd()
    }
}

/// The streams under way, so that they can be ended.
final class HTTPStreams: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var streams: [Int32: HTTPStream] = [:]
        var eventsAreEnded = false
        var documentsAreEnded = false
    }

    func insert(_ stream: HTTPStream, on socket: Int32) {
        let isEnded = state.withLock { state in
            state.streams[socket] = stream
            return stream.isDocument ? state.documentsAreEnded : state.eventsAreEnded
        }
        if isEnded { stream.end() }
    }

    func remove(on socket: Int32) {
        _ = state.withLock { $0.streams.removeValue(forKey: socket) }
    }

    /// Ends the streams of events whose client has gone. Those of documents are never suspended for long.
    func endDeserted() {
        let deserted = state.withLock { state -> [HTTPStream] in
            // Under the lock although it is a call of C, which does not block: a stream leaves the table before its
            // socket is closed, so the number is still this stream's.
            let events = state.streams.filter { !$0.value.isDocument }
            return desertedSockets(of: events.keys).compactMap { state.streams[$0] }
        }
        for stream in deserted { stream.end() }
    }

    /// Ends all streams of events, and those that still begin.
    func endEvents() {
        let streams = state.withLock { state in
            state.eventsAreEnded = true
            return state.streams.values.filter { !$0.isDocument }
        }
        for stream in streams { stream.end() }
    }

    /// The same for documents: a daemon cannot stop while a connection is suspended.
    func endDocuments() {
        let streams = state.withLock { state in
            state.documentsAreEnded = true
            return state.streams.values.filter(\.isDocument)
        }
        for stream in streams { stream.end() }
    }
}

/// Makes the `MHD_Response` that asks a stream for its content. Corresponds to `MHD_create_response_from_callback`.
///
/// - Parameter isHead: asks for none.
func streamingResponse(_ stream: HTTPStream, isHead: Bool) -> OpaquePointer? {
    // The block is for HTTP/1.0, which knows no chunks.
    let blockSize = stream.isDocument ? 64 * 1024 : 1024
    let response = unsafe MHD_create_response_from_callback(
        UInt64.max, blockSize, streamContent, Unmanaged.passRetained(stream).toOpaque(), streamEnded)
    if isHead, let response = unsafe response { unsafe leaveOutContent(of: response) }
    return unsafe response
}

/// Called by libmicrohttpd when it can send more; corresponds to `MHD_ContentReaderCallback`.
@c(airquality_http_stream_content)
private func streamContent(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, maximum: Int
) -> Int {
    guard let context = unsafe context else { return -1 }
    let stream = unsafe Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue()
    return unsafe stream.fill(UnsafeMutableRawBufferPointer(start: buffer, count: maximum))
}

/// Called by libmicrohttpd when the answer is over in whatever way; corresponds to
/// `MHD_ContentReaderFreeCallback`.
@c(airquality_http_stream_ended)
private func streamEnded(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HTTPStream>.fromOpaque(context).takeRetainedValue().finish()
}
