internal import CLibMicroHTTPD
internal import Synchronization

/// The content of a response.
public enum HTTPBody: Sendable {
    case bytes([UInt8])
    /// One after another.
    case pieces([[UInt8]])
    /// Comes as it is made, of unknown length.
    case stream(HTTPStream)

    /// None of a stream.
    var pieces: [[UInt8]] {
        switch self {
        case .bytes(let bytes): [bytes]
        case .pieces(let pieces): pieces
        case .stream: []
        }
    }
}

/// A response to a request.
///
/// `Content-Length`, `Date` and `Connection` are added when it is sent; HEAD gets the same header and no content.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: HTTPBody
    let contentBytes: Int

    /// - Parameters:
    ///   - status: 200 to 599.
    ///   - headers: a field with an empty value, or with a line break in it, is left out.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.body = body
        contentBytes = body.pieces.reduce(0) { $0 + $1.count }
    }

    /// One line of plain text.
    public init(status: Int, headers: [(name: String, value: String)] = [], line: String) {
        self.init(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: .bytes(Array("\(line)\n".utf8)))
    }

    /// Content of more bytes is sent from where it is, and counted by `HTTPService.unsent`; less is copied, and sent together
    /// with the header.
    static let maximumCopiedBytes = 64 * 1024

    /// Hands the response to libmicrohttpd, which keeps it until it is sent.
    /// - Parameters:
    ///   - content: that of a large response.
    ///   - extra: fields for every response of this server, in place of its own of the same name.
    func queue(
        _ content: LargeContent?, on connection: HTTPConnection, extra: [(name: String, value: String)]
    ) -> MHD_Result {
        let response =
            if let content {
                HTTPNativeResponse(content, size: UInt64(content.count), blockBytes: content.blockBytes)
            } else if case .stream(let stream) = body {
                HTTPNativeResponse(stream, size: .max, blockBytes: stream.blockBytes)
            } else {
                HTTPNativeResponse(joining: body.pieces, count: contentBytes)
            }
        if connection.isHead, case .stream = body { response.leaveOutContent() }
        for (name, value) in headers where !extra.contains(where: { $0.name == name }) {
            response.addHeader(name, value)
        }
        for (name, value) in extra { response.addHeader(name, value) }
        return response.queue(on: connection.handle, status: status)
    }
}

/// The owner of our reference to an `MHD_Response`; each connection that sends it holds one of its own.
@safe private struct HTTPNativeResponse: ~Copyable {
    private let response: OpaquePointer

    /// Corresponds to `MHD_create_response_from_buffer`.
    init(joining pieces: [[UInt8]], count: Int) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for piece in pieces { bytes += piece }
        let response = unsafe MHD_create_response_from_buffer(bytes.count, &bytes, .RESPMEM_MUST_COPY)
        guard let response = unsafe response else {
            preconditionFailure("MHD_create_response_from_buffer fails only without memory")
        }
        unsafe self.response = response
    }

    /// Corresponds to `MHD_create_response_from_callback`.
    init(_ content: some HTTPContent, size: UInt64, blockBytes: Int) {
        let context = unsafe Unmanaged.passRetained(ContentOwner(content)).toOpaque()
        let response = unsafe MHD_create_response_from_callback(size, blockBytes, readContent, context, contentEnded)
        guard let response = unsafe response else {
            preconditionFailure("MHD_create_response_from_callback fails only without memory")
        }
        unsafe self.response = response
    }

    /// Makes a response without a length one that can answer HEAD.
    ///
    /// - Symptom: libmicrohttpd would send the end of content in chunks behind the header.
    /// - Instead: the response is one for a client that knows no chunks, and the connection's last. Corresponds to
    ///   `MHD_RF_HTTP_1_0_COMPATIBLE_STRICT`.
    /// - Test: HTTPStreamTests.theHeadOfADocumentHasNoLengthAndNoContent.
    func leaveOutContent() { unsafe CLibMicroHTTPD_end_with_connection(response) }

    func addHeader(_ name: String, _ value: String) {
        // Refused when empty or with a line break in it, so no header can be smuggled in.
        _ = unsafe MHD_add_response_header(response, name, value)
    }

    func queue(on connection: MHDConnection, status: Int) -> MHD_Result {
        unsafe connection.queue(response, status: status)
    }

    deinit { unsafe MHD_destroy_response(response) }
}

/// Content that libmicrohttpd asks for block by block, on its thread.
protocol HTTPContent: AnyObject, Sendable {
    /// Returns the number of bytes written, or one of libmicrohttpd's `MHD_CONTENT_READER_END_…`.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int
    /// Called once, when nothing more will be asked for.
    func finish()
}

/// `MHD_CONTENT_READER_END_OF_STREAM`, a cast in C.
let endOfContent = -1
/// `MHD_CONTENT_READER_END_WITH_ERROR`.
let endWithError = -2

private final class ContentOwner {
    let content: any HTTPContent

    init(_ content: some HTTPContent) { self.content = content }
}

/// The content of a large response under way.
final class LargeContent: HTTPContent {
    /// Of all pieces.
    let count: Int
    /// Equal for contents that share all pieces but the last one, while they are alive. A scrape of an unchanged page has
    /// one piece of its own at the end.
    let identity: Int
    private let connection: HTTPConnection
    private let state: Mutex<State>

    private struct State {
        var pieces: [[UInt8]]
        /// Where the next block begins.
        var piece = 0
        var offset = 0
    }

    init(_ pieces: [[UInt8]], on connection: HTTPConnection) {
        count = pieces.reduce(0) { $0 + $1.count }
        var hasher = Hasher()
        for piece in pieces.count > 1 ? pieces.dropLast() : pieces[...] {
            unsafe piece.withUnsafeBytes { unsafe hasher.combine($0.baseAddress) }
        }
        identity = hasher.finalize()
        self.connection = connection
        state = Mutex(State(pieces: pieces))
    }

    /// Bytes that libmicrohttpd sends at a time. Each block takes a turn of its loop.
    var blockBytes: Int { min(count, 256 * 1024) }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = state.withLock { state in
            var count = 0
            while count < buffer.count, state.piece < state.pieces.count {
                let rest = state.pieces[state.piece].dropFirst(state.offset)
                let part = rest.prefix(buffer.count - count)
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: part)
                count += part.count
                state.offset += part.count
                if part.count == rest.count {
                    state.piece += 1
                    state.offset = 0
                }
            }
            return count
        }
        connection.sentBytes += count
        return count > 0 ? count : endWithError
    }

    func finish() {}

    /// Frees the memory. What has not been sent never will be.
    func drop() { state.withLock { $0.pieces = [] } }
}

/// Corresponds to `MHD_ContentReaderCallback`.
@c(airquality_http_read_content)
private func readContent(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, maximum: Int
) -> Int {
    guard let context = unsafe context else { return endWithError }
    let owner = unsafe Unmanaged<ContentOwner>.fromOpaque(context).takeUnretainedValue()
    return unsafe owner.content.fill(UnsafeMutableRawBufferPointer(start: buffer, count: maximum))
}

/// Called by libmicrohttpd when neither we nor a connection need the response any more.
@c(airquality_http_content_ended)
private func contentEnded(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<ContentOwner>.fromOpaque(context).takeRetainedValue().content.finish()
}
