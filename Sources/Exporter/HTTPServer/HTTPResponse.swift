internal import CLibMicroHTTPD

/// What is sent as the content of an answer. The arrays are sent from where they are, without a copy.
public enum HTTPBody: Sendable {
    case bytes([UInt8])
    /// One after another. More than `HTTPResponse.maximumPieces` of them are joined, which copies.
    case pieces([[UInt8]])
    /// What comes as it is made, of unknown length.
    case stream(HTTPStream)

    var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .pieces(let pieces): pieces.reduce(0) { $0 + $1.count }
        case .stream: 0
        }
    }
}

/// An answer to a request.
///
/// `Content-Length`, `Date` and `Connection` are added when it is sent; HEAD is answered with the same header and no
/// content.
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
        contentBytes = body.count
    }

    /// One line of plain text.
    public init(status: Int, headers: [(name: String, value: String)] = [], line: String) {
        self.init(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: .bytes(Array("\(line)\n".utf8)))
    }

    /// The most pieces that are sent without joining some of them.
    public static let maximumPieces = 512

    /// Content up to this size is joined into one piece, because a piece less to send is faster than a copy.
    static let maximumJoinedBytes = 64 * 1024

    /// Hands the answer to libmicrohttpd, which keeps it until it is sent.
    /// - Parameter extra: fields for every answer of this server, in place of its own of the same name.
    func queue(
        on state: HTTPConnection, _ connection: MHDConnection, extra: [(name: String, value: String)]
    ) -> MHD_Result {
        let response = nativeResponse(on: state, connection, extra: extra)
        for (name, value) in headers where !extra.contains(where: { $0.name == name }) {
            response.addHeader(name, value)
        }
        for (name, value) in extra { response.addHeader(name, value) }
        return response.queue(on: connection, status: status)
    }

    private func nativeResponse(
        on state: HTTPConnection, _ connection: MHDConnection, extra: [(name: String, value: String)]
    ) -> HTTPNativeResponse {
        if case .stream(let stream) = body { return HTTPNativeResponse(stream, isHead: state.isHead) }
        // Less than that waits for no client: it finds room in the kernel.
        let information = contentBytes > Self.maximumJoinedBytes ? TCPInformation(of: state.socket) : nil
        state.acknowledgedBefore = information?.acknowledgedBytes
        let content = pieces(of: body) {
            // Beside these fields there are the status line and those that libmicrohttpd adds.
            let headerBytes = (headers + extra).reduce(256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
            let room = roomForPieces(
                on: state, received: information?.receivedBytes, fieldCount: connection.fieldCount,
                answerHeaderBytes: headerBytes)
            return min(room, Self.maximumPieces)
        }
        return HTTPNativeResponse(content)
    }
}

/// The owner of our reference to an `MHD_Response`; each connection that sends it holds one of its own.
@safe private struct HTTPNativeResponse: ~Copyable {
    private let response: OpaquePointer

    /// Corresponds to `MHD_create_response_from_iovec`, which copies the vector and for a single piece makes the
    /// response that is sent together with its header.
    init(_ pieces: [[UInt8]]) {
        let context = unsafe Unmanaged.passRetained(HTTPContent(pieces)).toOpaque()
        let response =
            if pieces.count == 1 {
                unsafe withUnsafePointer(to: Self.entry(pieces[0])) { vector in
                    unsafe MHD_create_response_from_iovec(vector, 1, contentSent, context)
                }
            } else {
                unsafe pieces.map { unsafe Self.entry($0) }.withUnsafeBufferPointer { vector in
                    unsafe MHD_create_response_from_iovec(
                        vector.baseAddress, UInt32(vector.count), contentSent, context)
                }
            }
        guard let response = unsafe response else {
            preconditionFailure("MHD_create_response_from_iovec fails only without memory")
        }
        unsafe self.response = response
    }

    init(_ stream: HTTPStream, isHead: Bool) {
        guard let response = unsafe streamingResponse(stream, isHead: isHead) else {
            preconditionFailure("MHD_create_response_from_callback fails only without memory")
        }
        unsafe self.response = response
    }

    private static func entry(_ piece: [UInt8]) -> MHD_IoVec {
        // The pointer outlives the closure: the storage of a native array is a heap object that never moves, and
        // nobody writes to it while an `HTTPContent`, which the free callback releases, holds a reference: a writer
        // elsewhere copies first. A [UInt8] made on Linux is always native.
        unsafe piece.withUnsafeBytes { unsafe MHD_IoVec(iov_base: $0.baseAddress, iov_len: $0.count) }
    }

    func addHeader(_ name: String, _ value: String) {
        // Passing the strings themselves would copy them to the heap first.
        unsafe name.withCString { name in
            unsafe value.withCString { value in
                // Refused when empty or with a line break in it, so no header can be smuggled in.
                _ = unsafe MHD_add_response_header(response, name, value)
            }
        }
    }

    func queue(on connection: MHDConnection, status: Int) -> MHD_Result {
        unsafe connection.queue(response, status: status)
    }

    deinit {
        unsafe MHD_destroy_response(response)
    }
}

/// Keeps the arrays alive that a response points into.
private final class HTTPContent {
    let pieces: [[UInt8]]

    init(_ pieces: [[UInt8]]) {
        self.pieces = pieces
    }
}

/// Called by libmicrohttpd when neither we nor a connection need the response any more.
@c(airquality_http_content_sent)
private func contentSent(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HTTPContent>.fromOpaque(context).release()
}

/// The pieces to send: one when the content is small, and never more than allowed, neighbours being joined.
func pieces(of body: HTTPBody, maximum: () -> Int) -> [[UInt8]] {
    switch body {
    case .stream: return []
    case .bytes(let bytes): return [bytes]
    case .pieces(let pieces):
        guard pieces.count > 1, body.count > HTTPResponse.maximumJoinedBytes else { return [joined(pieces[...])] }
        let maximum = maximum()
        guard pieces.count > maximum else { return pieces }
        let size = (pieces.count + maximum - 1) / maximum
        return stride(from: 0, to: pieces.count, by: size).map {
            joined(pieces[$0..<min($0 + size, pieces.count)])
        }
    }
}

private func joined(_ pieces: ArraySlice<[UInt8]>) -> [UInt8] {
    if pieces.count == 1, let piece = pieces.first { return piece }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
    for piece in pieces { bytes += piece }
    return bytes
}
