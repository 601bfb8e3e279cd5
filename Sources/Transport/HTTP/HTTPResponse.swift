internal import CLibMicroHTTPD
internal import Synchronization

/// What is sent as the content of an answer. The arrays are sent from where they are, without a copy.
public enum HTTPBody: Sendable {
    case bytes([UInt8])
    /// One after another. More than `HTTPResponse.maximumPieces` of them are joined, which copies.
    case blocks([[UInt8]])

    var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .blocks(let blocks): blocks.reduce(0) { $0 + $1.count }
        }
    }
}

/// An answer to a request.
///
/// The library's own form of it is made when it is first sent and stays with the value and its copies: an answer that
/// is kept and returned again for unchanged content costs nothing to make. `Content-Length`, `Date` and `Connection`
/// are added when it is sent; HEAD is answered with the same header and no content.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: HTTPBody
    private let form: HTTPResponseForm

    /// - Parameters:
    ///   - status: 200 to 599.
    ///   - headers: a field with an empty value, or with a line break in it, is left out.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.body = body
        form = HTTPResponseForm()
    }

    /// One line of plain text.
    public init(status: Int, headers: [(name: String, value: String)] = [], line: String) {
        self.init(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: .bytes(Array("\(line)\n".utf8)))
    }

    /// The most pieces that are sent without joining them: what the kernel takes in one call (`IOV_MAX`), and what
    /// libmicrohttpd finds room for beside the request in `HTTPDaemon.memoryLimit`.
    public static let maximumPieces = 1024

    /// Content up to this size is joined into one piece, because a piece less to send is faster than a copy.
    static let joinedBytes = 64 * 1024

    /// Hands the answer to libmicrohttpd, which keeps it until it is sent. Corresponds to `MHD_queue_response`.
    /// - Parameter extra: further fields for every answer of this server; `number` tells one set from the next.
    func queue(on connection: OpaquePointer, extra: HTTPExtraHeaders) -> MHD_Result {
        let response = form.response(for: extra) { HTTPNativeResponse(self, extra: extra.fields) }
        return unsafe response.queue(on: connection, status: status)
    }
}

/// Header fields that the configuration adds to each answer.
struct HTTPExtraHeaders: Sendable {
    /// Another number for each other set of fields.
    var number = 0
    var fields: [(name: String, value: String)] = []
}

/// The place where an answer's C form is kept. The daemon's threads share it.
private final class HTTPResponseForm: Sendable {
    private let made = Mutex<(number: Int, response: HTTPNativeResponse)?>(nil)

    /// Made outside the lock: two threads that come first both make one, and either is right.
    func response(for extra: HTTPExtraHeaders, make: () -> HTTPNativeResponse) -> HTTPNativeResponse {
        if let made = made.withLock({ $0 }), made.number == extra.number { return made.response }
        let response = make()
        made.withLock { $0 = (extra.number, response) }
        return response
    }
}

/// The owner of our reference to an `MHD_Response`; each connection that sends it holds one of its own.
@safe private final class HTTPNativeResponse: @unchecked Sendable {
    // @unchecked: the pointer never changes, and libmicrohttpd counts references under the response's own mutex.
    private let response: OpaquePointer

    init(_ response: HTTPResponse, extra: [(name: String, value: String)]) {
        unsafe self.response = makeResponse(response.body)
        for (name, value) in response.headers + extra {
            // Refused when empty or with a line break in it, so no header can be smuggled in.
            _ = unsafe MHD_add_response_header(self.response, name, value)
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
private final class HTTPPieces {
    let pieces: [[UInt8]]

    init(_ pieces: [[UInt8]]) {
        self.pieces = pieces
    }
}

/// Corresponds to `MHD_create_response_from_iovec`, which copies the vector and for a single piece makes the response
/// that is sent together with its header.
private func makeResponse(_ body: HTTPBody) -> OpaquePointer {
    let pieces = HTTPPieces(joined(body))
    let vector = unsafe pieces.pieces.map { piece in
        // The pointer outlives the closure: the storage of a native array is a heap object that never moves, and
        // nobody writes to it while `pieces`, which the free callback releases, holds a reference: a writer elsewhere
        // copies first. A [UInt8] made on Linux is always native.
        unsafe piece.withUnsafeBytes { unsafe MHD_IoVec(iov_base: $0.baseAddress, iov_len: $0.count) }
    }
    let context = unsafe Unmanaged.passRetained(pieces)
    let response = unsafe MHD_create_response_from_iovec(
        vector, UInt32(vector.count), piecesSent, context.toOpaque())
    guard let response = unsafe response else {
        preconditionFailure("MHD_create_response_from_iovec fails without memory only")
    }
    return unsafe response
}

/// Called by libmicrohttpd when neither we nor a connection need the response any more.
@c(airquality_http_pieces_sent)
private func piecesSent(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HTTPPieces>.fromOpaque(context).release()
}

/// The pieces to send: one when the content is small, and never more than `HTTPResponse.maximumPieces`.
func joined(_ body: HTTPBody) -> [[UInt8]] {
    switch body {
    case .bytes(let bytes): return [bytes]
    case .blocks(let blocks):
        let count = body.count
        if count <= HTTPResponse.joinedBytes { return [joined(blocks[...], count: count)] }
        guard blocks.count > HTTPResponse.maximumPieces else { return blocks }
        return grouped(blocks, atLeast: count / (HTTPResponse.maximumPieces / 2))
    }
}

private func joined(_ blocks: ArraySlice<[UInt8]>, count: Int) -> [UInt8] {
    if blocks.count == 1, let block = blocks.first { return block }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for block in blocks { bytes += block }
    return bytes
}

/// Neighbours joined until each group has `bytes`: with a group counted full at the 512th part of all, there are 513
/// groups at most.
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
