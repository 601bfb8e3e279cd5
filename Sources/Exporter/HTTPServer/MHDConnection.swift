internal import CGnuTLS
internal import CLibMicroHTTPD

/// A connection as libmicrohttpd lends it to its callbacks: valid from the notice of its beginning to that of its end,
/// on the thread that calls them.
@safe struct MHDConnection: @unchecked Sendable {
    // @unchecked: the callbacks of a connection come one after another.
    let pointer: OpaquePointer

    init?(_ pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    var socket: Int32 { unsafe CLibMicroHTTPD_socket(pointer) }

    /// The session of a TLS connection; `nil`: plain HTTP.
    var tlsSession: gnutls_session_t? { unsafe CLibMicroHTTPD_tls_session(pointer).map { OpaquePointer($0) } }

    /// This server's object for it, which the notice of its beginning has made.
    var state: HTTPConnection? {
        unsafe CLibMicroHTTPD_socket_context(pointer).map {
            unsafe Unmanaged<HTTPConnection>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Bytes of request line and fields, as soon as all of them have come.
    var headerBytes: Int { unsafe CLibMicroHTTPD_header_size(pointer) }

    /// Calls the body for each field that the client has sent, in their order, until it returns false. Corresponds to
    /// `MHD_get_connection_values_n`.
    func forEachField(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool) {
        unsafe withoutActuallyEscaping(body) { body in
            var visit = unsafe FieldVisit(body: body)
            unsafe withUnsafeMutablePointer(to: &visit) {
                _ = unsafe MHD_get_connection_values_n(pointer, .HEADER_KIND, httpField, $0)
            }
        }
    }
}

@unsafe private struct FieldVisit {
    let body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    /// Fields that `hideContent` has put in front of the client's.
    var hiddenFields = MHDConnection.hiddenFieldCount
}

/// Called by libmicrohttpd for each field; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_field)
private func httpField(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    guard let visit = unsafe context?.assumingMemoryBound(to: FieldVisit.self) else { return .NO }
    guard unsafe visit.pointee.hiddenFields == 0 else {
        unsafe visit.pointee.hiddenFields -= 1
        return .YES
    }
    let name = unsafe UnsafeRawBufferPointer(start: name, count: nameLength)
    let value = unsafe UnsafeRawBufferPointer(start: value, count: valueLength)
    return unsafe visit.pointee.body(name, value) ? .YES : .NO
}
