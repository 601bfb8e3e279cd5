internal import CLibWebSockets
internal import System

extension WebSocketContext {
    static func client(_ loop: ClientLoop, waker: LoopWaker) throws(SystemError) -> WebSocketContext {
        let made = unsafe WebSocketContext(loop, maximumSockets: ClientLoop.maximumSockets, waker: waker) { info in
            unsafe info.port = CONTEXT_PORT_NO_LISTEN
        }
        guard let made else { throw SystemError(.system, "libwebsockets cannot make a context") }
        return made
    }

    /// Begins to connect; `nil` when that failed at once. The loop knows the socket by its number, and may have heard
    /// of it before this returns.
    func dial(_ ipAddress: String, port: Int, number: Int) -> Socket? {
        var info = unsafe lws_client_connect_info()
        unsafe info.context = context
        unsafe info.port = Int32(port)
        unsafe info.opaque_user_data = UnsafeMutableRawPointer(bitPattern: number)
        unsafe info.local_protocol_name = unsafe memory.protocols[0].name
        // libwebsockets copies the strings.
        let wsi = unsafe ipAddress.withCString { address in
            unsafe "RAW".withCString { method in
                unsafe info.address = address
                unsafe info.host = address
                unsafe info.method = method
                return unsafe lws_client_connect_via_info(&info)
            }
        }
        return unsafe wsi.map { unsafe Socket($0) }
    }
}
