internal import Bytes
internal import CGnuTLS
internal import CLibMicroHTTPD
internal import Glibc

/// A connection as libmicrohttpd lends it to its callbacks: valid from the notice of its beginning to that of its end,
/// on the daemon's thread.
@safe struct MHDConnection: @unchecked Sendable {
    // @unchecked: `resume` alone is called on other threads, as libmicrohttpd allows, and a suspended connection lives
    // until then: the daemon is not stopped before `HTTPSuspensions` has had all of them resumed.
    private let handle: OpaquePointer

    init?(_ handle: OpaquePointer?) {
        guard let handle = unsafe handle else { return nil }
        unsafe self.handle = handle
    }

    // MARK: - The connection

    var socket: Int32 { unsafe CLibMicroHTTPD_socket(handle) }

    var peer: PeerAddress { unsafe PeerAddress(CLibMicroHTTPD_peer(handle)) }

    /// Nil: plain HTTP.
    var tlsSession: gnutls_session_t? { unsafe CLibMicroHTTPD_tls_session(handle).map { OpaquePointer($0) } }

    /// What this server knows of it, kept by `httpConnection`.
    var state: HTTPConnection? {
        unsafe CLibMicroHTTPD_socket_context(handle).map {
            unsafe Unmanaged<HTTPConnection>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Corresponds to `MHD_suspend_connection`: nothing is read or sent until `resume`, and then the access handler, or
    /// the reader of a stream, is called again.
    func suspend() { unsafe MHD_suspend_connection(handle) }

    /// Any thread. Corresponds to `MHD_resume_connection`.
    func resume() { unsafe MHD_resume_connection(handle) }

    // MARK: - The request

    /// Bytes of request line and fields, as soon as all of them have come.
    var headerBytes: Int { unsafe CLibMicroHTTPD_header_size(handle) }

    /// How many fields the header has, those included that `hideContent` has put there.
    var fieldCount: Int { Int(unsafe MHD_get_connection_values(handle, .HEADER_KIND, nil, nil)) }

    /// Calls the visitor for each field in the order in which they were sent. Corresponds to
    /// `MHD_get_connection_values_n`.
    func visitFields(_ visitor: MHD_KeyValueIteratorN, _ context: UnsafeMutableRawPointer) {
        _ = unsafe MHD_get_connection_values_n(handle, .HEADER_KIND, visitor, context)
    }

    /// See `hideContent`.
    func setHiddenFields() -> Bool { unsafe CLibMicroHTTPD_hide_content(handle) != 0 }

    /// Corresponds to `MHD_queue_response`.
    func queue(_ response: OpaquePointer, status: Int) -> MHD_Result {
        unsafe MHD_queue_response(handle, UInt32(status), response)
    }
}
