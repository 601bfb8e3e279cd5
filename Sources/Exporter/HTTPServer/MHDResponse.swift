internal import CLibMicroHTTPD
internal import System

extension HTTPResponse {
    /// Hands the response to libmicrohttpd, which keeps it until it is sent.
    ///
    /// - Parameter extra: fields of every response of this server, in place of the response's own of the same name.
    func queue(
        on connection: HTTPConnection, _ limits: HTTPLimits, extra: [(name: String, value: String)]
    ) -> MHD_Result {
        let response =
            if case .stream(let stream) = body {
                MHDResponse(StreamedContent(stream, on: connection, limits), bytes: .max)
            } else if contentBytes > HTTPService.maximumCopiedBytes {
                MHDResponse(WholeContent(pieces, count: contentBytes), bytes: UInt64(contentBytes))
            } else {
                MHDResponse(copying: pieces, count: contentBytes)
            }
        for (name, value) in headers where !extra.contains(where: { $0.name == name }) {
            response.addHeader(name, value)
        }
        for (name, value) in extra { response.addHeader(name, value) }
        return connection.handle.queue(response, status: status)
    }
}

/// The owner of our reference to an `MHD_Response`; the connection that sends it holds one of its own.
@safe struct MHDResponse: ~Copyable {
    private let response: OpaquePointer

    /// Corresponds to `MHD_create_response_from_buffer`.
    fileprivate init(copying pieces: [[UInt8]], count: Int) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for piece in pieces { bytes += piece }
        let response = unsafe MHD_create_response_from_buffer(count, &bytes, .RESPMEM_MUST_COPY)
        guard let response = unsafe response else {
            preconditionFailure("MHD_create_response_from_buffer fails only without memory")
        }
        unsafe self.response = response
    }

    /// Corresponds to `MHD_create_response_from_callback`.
    fileprivate init(_ content: any MHDContent, bytes: UInt64) {
        let context = unsafe Unmanaged.passRetained(ContentOwner(content)).toOpaque()
        let block = content.blockBytes
        let response = unsafe MHD_create_response_from_callback(bytes, block, readContent, context, contentEnded)
        guard let response = unsafe response else {
            preconditionFailure("MHD_create_response_from_callback fails only without memory")
        }
        unsafe self.response = response
    }

    fileprivate func addHeader(_ name: String, _ value: String) {
        // Refused when empty or with a line break in it, so no header can be smuggled in.
        _ = unsafe MHD_add_response_header(response, name, value)
    }

    /// Corresponds to `MHD_queue_response`.
    fileprivate func queue(on connection: OpaquePointer, status: Int) -> MHD_Result {
        unsafe MHD_queue_response(connection, UInt32(status), response)
    }

    deinit { unsafe MHD_destroy_response(response) }
}

extension MHDConnection {
    fileprivate func queue(_ response: borrowing MHDResponse, status: Int) -> MHD_Result {
        unsafe response.queue(on: pointer, status: status)
    }
}

// MARK: - Content

/// Content that libmicrohttpd asks for block by block, on the connection's thread.
private protocol MHDContent: AnyObject {
    /// Bytes that libmicrohttpd asks for at a time.
    var blockBytes: Int { get }
    /// Returns the number of bytes written, or one of libmicrohttpd's `MHD_CONTENT_READER_END_…`.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int
    /// Called once, when nothing more will be asked for.
    func end()
}

/// `MHD_CONTENT_READER_END_OF_STREAM`, a cast in C.
private let endOfContent = -1
/// `MHD_CONTENT_READER_END_WITH_ERROR`.
private let endWithError = -2

/// Large content that is sent from where it is, which other connections may share.
private final class WholeContent: MHDContent {
    let blockBytes: Int
    private var pieces: ArraySlice<[UInt8]>
    /// Bytes of the first piece that have been sent.
    private var sent = 0

    init(_ pieces: [[UInt8]], count: Int) {
        self.pieces = pieces[...]
        blockBytes = min(count, 256 * 1024)
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        var count = 0
        while count < buffer.count, let piece = pieces.first {
            let part = piece[sent...].prefix(buffer.count - count)
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: part)
            count += part.count
            sent += part.count
            guard sent == piece.count else { break }
            pieces.removeFirst()
            sent = 0
        }
        return count > 0 ? count : endWithError
    }

    func end() {}
}

/// The content of a stream. Its connection's deadline says when the client must have taken it.
private final class StreamedContent: MHDContent {
    private let stream: HTTPStream
    private let connection: HTTPConnection
    private let limits: HTTPLimits
    private var rest: ArraySlice<UInt8> = []

    init(_ stream: HTTPStream, on connection: HTTPConnection, _ limits: HTTPLimits) {
        self.stream = stream
        self.connection = connection
        self.limits = limits
    }

    /// The blocks are for HTTP/1.0, which knows no chunks.
    var blockBytes: Int { 1024 }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        if rest.isEmpty {
            // The client has taken what it was sent: nothing is waited for while the next event is.
            connection.setDeadline(nil)
            guard let next = stream.next() else { return endOfContent }
            rest = next[...]
        }
        let part = rest.prefix(buffer.count)
        unsafe buffer.copyBytes(from: part)
        rest = rest.dropFirst(part.count)
        connection.setDeadline(monotonicTime() + limits.streamTimeout)
        return part.count
    }

    func end() { stream.onEnd() }
}

private final class ContentOwner {
    let content: any MHDContent

    init(_ content: any MHDContent) { self.content = content }
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
    unsafe Unmanaged<ContentOwner>.fromOpaque(context).takeRetainedValue().content.end()
}
