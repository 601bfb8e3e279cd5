internal import CLibMicroHTTPD
internal import Glibc
internal import System

/// The owner of our reference to an `MHD_Response`; the connection that sends it holds one of its own.
@safe struct MHDResponse: ~Copyable {
    private let response: OpaquePointer
    private let connection: HTTPConnection

    /// Content of more bytes is sent from where it is; less is copied, and sent together with the header.
    static let maximumCopiedBytes = 64 * 1024

    init(_ body: HTTPBody, headers: [(name: String, value: String)], on connection: HTTPConnection) {
        self.connection = connection
        if case .stream = body {
            // The blocks are for HTTP/1.0, which knows no chunks.
            unsafe response = readingResponse(MHDContent(body, on: connection), bytes: .max, block: 1024)
        } else if body.knownBytes > Self.maximumCopiedBytes {
            unsafe response = readingResponse(
                MHDContent(body, on: connection), bytes: UInt64(body.knownBytes), block: 256 * 1024)
        } else {
            unsafe response = copyingResponse(body)
        }
        // One that is empty, or has a line break in it, is left out: none can be smuggled in.
        for (name, value) in headers { _ = unsafe MHD_add_response_header(response, name, value) }
    }

    /// Hands the response to libmicrohttpd, which keeps it until it is sent. Corresponds to `MHD_queue_response`.
    func queue(status: Int) -> MHD_Result {
        unsafe MHD_queue_response(connection.pointer, UInt32(status), response)
    }

    deinit { unsafe MHD_destroy_response(response) }
}

/// Corresponds to `MHD_create_response_from_buffer`.
private func copyingResponse(_ body: HTTPBody) -> OpaquePointer {
    let count = body.knownBytes
    let memory = unsafe malloc(max(count, 1))!
    var rest = unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
    for piece in body.knownPieces {
        unsafe rest.copyBytes(from: piece)
        unsafe rest = UnsafeMutableRawBufferPointer(rebasing: rest[piece.count...])
    }
    return unsafe MHD_create_response_from_buffer(count, memory, .RESPMEM_MUST_FREE)!
}

/// Corresponds to `MHD_create_response_from_callback`.
private func readingResponse(_ content: MHDContent, bytes: UInt64, block: Int) -> OpaquePointer {
    let context = unsafe Unmanaged.passRetained(content).toOpaque()
    return unsafe MHD_create_response_from_callback(bytes, block, readContent, context, contentEnded)!
}

/// Content that libmicrohttpd asks for block by block, on the connection's thread.
private final class MHDContent {
    private let connection: HTTPConnection
    private var stream: HTTPStream?
    private var pieces: ArraySlice<[UInt8]>
    /// The rest of the piece that is being sent.
    private var rest: ArraySlice<UInt8> = []

    init(_ body: HTTPBody, on connection: HTTPConnection) {
        self.connection = connection
        pieces = body.knownPieces[...]
        if case .stream(let stream) = body { self.stream = stream }
    }

    /// Returns the number of bytes written, or `MHD_CONTENT_READER_END_OF_STREAM`, a cast in C.
    fileprivate func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while rest.isEmpty {
            guard let next = nextPiece() else { return -1 }
            rest = next[...]
        }
        let part = rest.prefix(buffer.count)
        unsafe buffer.copyBytes(from: part)
        rest = rest.dropFirst(part.count)
        if stream != nil { connection.setDeadline(monotonicTime() + HTTPLimits.streamTime) }
        return part.count
    }

    /// Returns `nil` at the end.
    private func nextPiece() -> [UInt8]? {
        if let piece = pieces.popFirst() { return piece }
        guard let stream else { return nil }
        // The client has taken what it was sent: nothing is waited for while the next event is.
        connection.setDeadline(nil)
        let event = stream.next()
        return event.isEmpty ? nil : event
    }

    deinit { stream?.end() }
}

/// Corresponds to `MHD_ContentReaderCallback`.
@c(airquality_http_read_content)
private func readContent(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, maximum: Int
) -> Int {
    let content = unsafe Unmanaged<MHDContent>.fromOpaque(context!).takeUnretainedValue()
    return unsafe content.fill(UnsafeMutableRawBufferPointer(start: buffer, count: maximum))
}

/// Called by libmicrohttpd when neither we nor a connection need the response any more.
@c(airquality_http_content_ended)
private func contentEnded(context: UnsafeMutableRawPointer?) {
    unsafe Unmanaged<MHDContent>.fromOpaque(context!).release()
}
