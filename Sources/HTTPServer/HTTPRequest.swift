internal import Bytes
internal import CLibMicroHTTPD
internal import Glibc

/// A request as the route closure sees it, valid while that closure runs.
///
/// Header fields are looked up when asked for: what nobody asks for is not copied.
@safe public struct HTTPRequest: ~Copyable {
    public let method: String
    /// Percent-decoded and otherwise as sent: `//` and `/..` stay what they are.
    public let path: String
    /// As sent, without the `?`.
    public let query: String
    private let fields: Fields

    @safe private enum Fields {
        case connection(OpaquePointer)
        case list([(name: String, value: String)])
    }

    /// A request that came over no socket, to ask a route directly.
    public init(
        method: String = "GET", path: String, query: String = "", headers: [(name: String, value: String)] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        fields = .list(headers)
    }

    init(method: String, path: String, query: String, connection: OpaquePointer) {
        self.method = method
        self.path = path
        self.query = query
        unsafe fields = .connection(connection)
    }

    public var isHead: Bool { method == "HEAD" }

    /// The value of a header field whatever the case of its name; several lines of one name are joined with `, `
    /// (RFC 9110 section 5.3).
    public func header(_ name: String) -> String? {
        switch fields {
        case .connection(let connection):
            return unsafe headerField(name, of: connection)
        case .list(let fields):
            let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }
}

/// What `headerFieldFound` looks for and has found.
@unsafe private struct HeaderSearch {
    let name: UnsafePointer<CChar>
    let nameLength: Int
    var value: String?
}

/// Corresponds to `MHD_get_connection_values_n`: `MHD_lookup_connection_value` gives the first line only.
func headerField(_ name: String, of connection: OpaquePointer) -> String? {
    unsafe name.withCString { start in
        var search = unsafe HeaderSearch(name: start, nameLength: name.utf8.count)
        unsafe withUnsafeMutablePointer(to: &search) { search in
            _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, headerFieldFound, search)
        }
        return unsafe search.value
    }
}

/// Called by libmicrohttpd for each header line; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_header_field)
private func headerFieldFound(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name else { return .YES }
    let search = unsafe context.assumingMemoryBound(to: HeaderSearch.self)
    // Nobody calls setlocale, so these are the letters of ASCII.
    guard unsafe nameLength == search.pointee.nameLength, unsafe strncasecmp(name, search.pointee.name, nameLength) == 0
    else { return .YES }
    let line = unsafe String(decoding: UnsafeRawBufferPointer(start: value, count: valueLength), as: UTF8.self)
    unsafe search.pointee.value = search.pointee.value.map { $0 + ", " + line } ?? line
    return .YES
}
