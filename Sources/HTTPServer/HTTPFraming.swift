internal import Bytes
internal import CLibMicroHTTPD

/// What a request's header says about where it goes and where it ends (RFC 9112 sections 3.2 and 6).
///
/// 0.9.75 would read this itself, refuse some of it, go on after its refusal as if there were none, and send an answer
/// with a second header in its content (`parse_connection_headers`, `transmit_error_response_len`). So it is shown a
/// `Content-Length` of 0 in front of all others and never looks for content.
struct HTTPFraming: Equatable {
    private var hosts = 0
    private var lengths = 0
    private var isLengthNumber = true
    private var isLengthZero = true
    private var hasTransferCoding = false

    /// One field of the header, its name in any case.
    mutating func add(name: some Collection<UInt8>, value: some BidirectionalCollection<UInt8>) {
        switch name.count {
        case 4 where equalsIgnoringCase(name, "host"):
            hosts += 1
        case 14 where equalsIgnoringCase(name, "content-length"):
            lengths += 1
            let digits = value.reversed().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            isLengthNumber = !digits.isEmpty && digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
            isLengthZero = digits.allSatisfy { $0 == UInt8(ascii: "0") }
        case 17 where equalsIgnoringCase(name, "transfer-encoding"):
            hasTransferCoding = true
        default: break
        }
    }

    /// Why the request cannot be answered, if so.
    /// - Parameter needsHost: false for HTTP/1.0.
    func refusal(needsHost: Bool) -> HTTPRefusal? {
        guard hosts == 1 || hosts == 0 && !needsHost else { return HTTPRefusal(400, "one Host field is needed") }
        // Two lengths, or a length and chunks, mean one thing to us and another to a proxy.
        guard lengths < 2, lengths == 0 || !hasTransferCoding else {
            return HTTPRefusal(400, "the length of the content is ambiguous")
        }
        guard isLengthNumber else { return HTTPRefusal(400, "Content-Length is not a number") }
        return hasTransferCoding ? HTTPRefusal(411, "content needs a Content-Length") : nil
    }

    /// Whether something follows the header that is not the next request.
    var hasContent: Bool { !isLengthZero }
}

extension HTTPFraming {
    /// Of a request whose header has come. Corresponds to `MHD_get_connection_values_n`.
    init(of connection: MHDConnection) {
        self.init()
        unsafe withUnsafeMutablePointer(to: &self) { unsafe connection.visitFields(framingField, $0) }
        // The one that `hideContent` has put there.
        lengths -= 1
    }
}

/// Called by libmicrohttpd for each header line; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_framing_field)
private func framingField(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    guard let context = unsafe context else { return .NO }
    unsafe context.assumingMemoryBound(to: HTTPFraming.self).pointee.add(
        name: UnsafeRawBufferPointer(start: name, count: nameLength),
        value: UnsafeRawBufferPointer(start: value, count: valueLength))
    return .YES
}

/// What the server answers itself, before the route closure is asked.
public struct HTTPRefusal: Sendable {
    /// 400, 401, 411, 414, 429, 431 or 503.
    public let status: Int
    /// Fields that the status needs.
    public let headers: [(name: String, value: String)]
    /// Why, in one line.
    public let line: String

    public init(_ status: Int, headers: [(name: String, value: String)] = [], _ line: String) {
        self.status = status
        self.headers = headers
        self.line = line
    }

    static let unauthorized = HTTPRefusal(
        401, headers: [("WWW-Authenticate", "Basic")], "a user and a password are needed")

    static func busy(_ line: String) -> HTTPRefusal {
        HTTPRefusal(503, headers: [("Retry-After", "1")], line)
    }
}
