internal import CLibWebSockets

/// Called by libwebsockets for everything that happens to a client's connection; corresponds to
/// `lws_callback_function`.
@c(airquality_websocket_client_event)
func webSocketClientEvent(
    connection: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    bytes: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    guard let connection = unsafe connection, let owner = unsafe lws_context_user(lws_get_context(connection)) else {
        return 0
    }
    let loop = unsafe Unmanaged<ClientLoop>.fromOpaque(owner).takeUnretainedValue()
    return unsafe loop.happened(reason, to: connection, user: user, bytes: bytes, count: count)
}

/// Called by libwebsockets when `WebSocketContext.schedule`'s time has come; corresponds to `sul_cb_t`.
@c(airquality_websocket_client_timer)
func webSocketClientTimer(timer: UnsafeMutablePointer<lws_sorted_usec_list_t>?) {
    guard let timer = unsafe timer else { return }
    let owner = unsafe UnsafeMutableRawPointer(timer).assumingMemoryBound(to: CLibWebSockets_timer.self).pointee.owner!
    unsafe Unmanaged<ClientLoop>.fromOpaque(owner).takeUnretainedValue().timerFired()
}

/// Called by libwebsockets for everything that happens to a server's connection; corresponds to
/// `lws_callback_function`.
@c(airquality_websocket_server_event)
func webSocketServerEvent(
    connection: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    bytes: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    guard let connection = unsafe connection, let owner = unsafe lws_context_user(lws_get_context(connection)) else {
        return 0
    }
    let loop = unsafe Unmanaged<ServerLoop>.fromOpaque(owner).takeUnretainedValue()
    return unsafe loop.happened(reason, to: connection, bytes: bytes, count: count)
}

/// Called by libwebsockets when `WebSocketContext.schedule`'s time has come; corresponds to `sul_cb_t`.
@c(airquality_websocket_server_timer)
func webSocketServerTimer(timer: UnsafeMutablePointer<lws_sorted_usec_list_t>?) {
    guard let timer = unsafe timer else { return }
    let owner = unsafe UnsafeMutableRawPointer(timer).assumingMemoryBound(to: CLibWebSockets_timer.self).pointee.owner!
    unsafe Unmanaged<ServerLoop>.fromOpaque(owner).takeUnretainedValue().timerFired()
}
