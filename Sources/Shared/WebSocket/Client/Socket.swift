internal import CLibWebSockets

/// A socket in a context's event loop (an `lws`), valid from its dial or first event until the loop handles its end.
@safe struct Socket {
    private let wsi: OpaquePointer

    init(_ wsi: OpaquePointer) { unsafe self.wsi = wsi }

    /// ID of its connection, set by the dial.
    var connectionID: Int { unsafe Int(bitPattern: lws_get_opaque_user_data(wsi)) }

    var descriptor: Int32 { unsafe lws_get_socket_fd(wsi) }

    /// Requests one `LWS_CALLBACK_RAW_WRITEABLE`.
    func wantToWrite() { unsafe lws_callback_on_writable(wsi) }

    func setDeadline(seconds: Int32) { unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, seconds) }

    /// Closes the socket in the loop's next turn, not within this call.
    func kill() { setDeadline(seconds: LWS_TO_KILL_ASYNC) }
}
