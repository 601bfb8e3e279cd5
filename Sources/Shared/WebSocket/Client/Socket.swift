internal import CLibWebSockets

/// An `lws`: a socket in a context's loop. There from its first event, or from the dial that made it, until `ended`.
@safe struct Socket {
    private let wsi: OpaquePointer

    init(_ wsi: OpaquePointer) { unsafe self.wsi = wsi }

    /// The number that it was dialled with.
    var number: Int { unsafe Int(bitPattern: lws_get_opaque_user_data(wsi)) }

    var descriptor: Int32 { unsafe lws_get_socket_fd(wsi) }

    /// Asks for one `writable`.
    func wantToWrite() { unsafe lws_callback_on_writable(wsi) }

    /// Ends the socket after that many seconds.
    func setDeadline(seconds: Int32) { unsafe lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, seconds) }

    /// Ends the socket in the loop's next turn, and not from within this call.
    func kill() { setDeadline(seconds: LWS_TO_KILL_ASYNC) }
}
