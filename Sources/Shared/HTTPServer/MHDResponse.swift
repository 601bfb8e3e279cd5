internal import CLibMicroHTTPD
internal import Glibc
internal import System

/// Owner of our reference to an `MHD_Response`; the connection that sends it holds its own.
@safe struct MHDResponse: ~Copyable {
    private let response: OpaquePointer
    private let connection: HTTPConnection

    /// Larger content is sent from where it is; smaller content is copied and sent together with the header.
    static let maximumCopiedBytes = 64 * 1024

    /// Corresponds to `MHD_create_response_from_buffer` and `MHD_create_response_from_callback`.
    init(_ body: HTTPBody, headers: [(name: String, value: String)], on connection: HTTPConnection) {
        self.connection = connection
        if body.stream != nil || body.knownBytes > Self.maximumCopiedBytes {
            // The block size of a stream matters only to HTTP/1.0, which has no chunks.
            let (bytes, block) = body.stream != nil ? (UInt64.max, 1024) : (UInt64(body.knownBytes), 256 * 1024)
            let content = unsafe Unmanaged.passRetained(MHDContent(body, on: connection)).toOpaque()
            unsafe response = MHD_create_response_from_callback(bytes, block, readContent, content, contentEnded)!
        } else {
            var bytes = body.knownPieces.reduce(into: [], +=)
            unsafe response = MHD_create_response_from_buffer(bytes.count, &bytes, .RESPMEM_MUST_COPY)!
        }
        // libmicrohttpd leaves out an empty field or one with a line break, so none can be injected.
        for (name, value) in headers { _ = unsafe MHD_add_response_header(response, name, value) }
    }

    /// Hands the response to libmicrohttpd, which keeps it until it is sent. Corresponds to `MHD_queue_response`.
    func queue(status: Int) -> MHD_Result {
        unsafe MHD_queue_response(connection.pointer, UInt32(status), response)
    }

    deinit { unsafe MHD_destroy_response(response) }
}

/// Content that libmicrohttpd requests block by block, on the connection's thread.
private final class MHDContent {
    private let connection: HTTPConnection
    private let stream: HTTPStream?
    private var pieces: ArraySlice<[UInt8]>
    /// Unsent part of the current piece.
    private var rest: ArraySlice<UInt8> = []

    init(_ body: HTTPBody, on connection: HTTPConnection) {
        self.connection = connection
        stream = body.stream
        pieces = body.knownPieces[...]
    }

    /// Returns the number of bytes written, or -1: `MHD_CONTENT_READER_END_OF_STREAM`, which is a cast in C.
    fileprivate func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while rest.isEmpty {
            guard let next = nextPiece() else { return -1 }
            rest = next[...]
        }
        let part = rest.prefix(buffer.count)
        unsafe buffer.copyBytes(from: part)
        rest = rest.dropFirst(part.count)
        if stream != nil {
            connection.progress.deadline = monotonicTime() + HTTPLimits.streamTime
        } else {
            connection.progress.sentBytes += part.count
        }
        return part.count
    }

    private func nextPiece() -> [UInt8]? {
        if let piece = pieces.popFirst() { return piece }
        guard let stream else { return nil }
        // The client has taken everything sent so far: it has no deadline until the next event.
        connection.progress.deadline = HTTPConnection.Progress.never
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

/// Called by libmicrohttpd when nothing refers to the response any more.
@c(airquality_http_content_ended)
private func contentEnded(context: UnsafeMutableRawPointer?) {
    unsafe Unmanaged<MHDContent>.fromOpaque(context!).release()
}
