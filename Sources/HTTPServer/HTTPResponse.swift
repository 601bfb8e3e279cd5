internal import CLibMicroHTTPD

/// What is sent as the content of an answer. The arrays are sent from where they are, without a copy.
public enum HTTPBody: Sendable {
    case bytes([UInt8])
    /// One after another. More than `HTTPResponse.maximumPieces` of them are joined, which copies.
    case blocks([[UInt8]])
    /// What comes as it is made. Not for HEAD: libmicrohttpd 0.9.75 would send the end of the content.
    case stream(HTTPStream)

    var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .blocks(let blocks): blocks.reduce(0) { $0 + $1.count }
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

    /// The most pieces that are sent without joining them.
    public static let maximumPieces = 512

    /// Content up to this size is joined into one piece, because a piece less to send is faster than a copy.
    static let joinedBytes = 64 * 1024

    /// Hands the answer to libmicrohttpd, which keeps it until it is sent. Corresponds to `MHD_queue_response`.
    /// - Parameter extra: further fields for every answer of this server.
    func queue(on connection: OpaquePointer, extra: [(name: String, value: String)]) -> MHD_Result {
        let response = HTTPNativeResponse(unsafe content(for: connection))
        for (name, value) in headers { response.addHeader(name, value) }
        for (name, value) in extra { response.addHeader(name, value) }
        return unsafe response.queue(on: connection, status: status)
    }

    /// The body in at most as many pieces as there is room for.
    private func content(for connection: OpaquePointer) -> HTTPBody {
        guard case .blocks = body else { return body }
        let pieces = pieces(of: body)
        if pieces.count > 1, unsafe pieces.count > HTTPDaemon.roomForPieces(beside: connection) {
            return .blocks(joined(body))
        }
        return .blocks(pieces)
    }
}

/// The owner of our reference to an `MHD_Response`; each connection that sends it holds one of its own.
@safe private struct HTTPNativeResponse: ~Copyable {
    private let response: OpaquePointer

    /// Corresponds to `MHD_create_response_from_iovec`, which copies the vector and for a single piece makes the
    /// response that is sent together with its header.
    init(_ content: HTTPBody) {
        let response =
            switch content {
            case .bytes(let bytes):
                unsafe withUnsafePointer(to: Self.entry(bytes)) { vector in
                    unsafe MHD_create_response_from_iovec(vector, 1, contentSent, Self.kept(content))
                }
            case .blocks(let blocks):
                unsafe blocks.map { unsafe Self.entry($0) }.withUnsafeBufferPointer { vector in
                    unsafe MHD_create_response_from_iovec(
                        vector.baseAddress, UInt32(vector.count), contentSent, Self.kept(content))
                }
            case .stream(let stream): unsafe streamingResponse(stream)
            }
        guard let response = unsafe response else {
            preconditionFailure("MHD_create_response_from_iovec fails without memory only")
        }
        unsafe self.response = response
    }

    private static func kept(_ content: HTTPBody) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(HTTPContent(content)).toOpaque()
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

    func queue(on connection: OpaquePointer, status: Int) -> MHD_Result {
        unsafe MHD_queue_response(connection, UInt32(status), response)
    }

    deinit {
        unsafe MHD_destroy_response(response)
    }
}

/// Keeps the arrays alive that a response points into.
private final class HTTPContent {
    let body: HTTPBody

    init(_ body: HTTPBody) {
        self.body = body
    }
}

/// Called by libmicrohttpd when neither we nor a connection need the response any more.
@c(airquality_http_content_sent)
private func contentSent(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HTTPContent>.fromOpaque(context).release()
}

/// The pieces to send: one when the content is small, and never more than `HTTPResponse.maximumPieces`.
func pieces(of body: HTTPBody) -> [[UInt8]] {
    guard case .blocks(let blocks) = body, body.count > HTTPResponse.joinedBytes else { return joined(body) }
    guard blocks.count > HTTPResponse.maximumPieces else { return blocks }
    return grouped(blocks, atLeast: body.count / (HTTPResponse.maximumPieces / 2))
}

func joined(_ body: HTTPBody) -> [[UInt8]] {
    switch body {
    case .bytes(let bytes): [bytes]
    case .blocks(let blocks): [joined(blocks[...], count: body.count)]
    case .stream: []
    }
}

private func joined(_ blocks: ArraySlice<[UInt8]>, count: Int) -> [UInt8] {
    if blocks.count == 1, let block = blocks.first { return block }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for block in blocks { bytes += block }
    return bytes
}

/// Neighbours joined until each group has `bytes`, so that there is one group more at most than `bytes` fit in all.
private func grouped(_ blocks: [[UInt8]], atLeast bytes: Int) -> [[UInt8]] {
    var groups: [[UInt8]] = []
    var start = 0
    var count = 0
    for (index, block) in blocks.enumerated() {
        count += block.count
        if count >= bytes || index == blocks.count - 1 {
            groups.append(joined(blocks[start...index], count: count))
            start = index + 1
            count = 0
        }
    }
    return groups
}
