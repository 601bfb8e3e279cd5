import CLibWebSockets
import Glibc
import System
import Testing

@testable import WebSocket

struct SocketTests {
    @Test func `Each callback of libwebsockets has its event, or none`() {
        let meanings: [(lws_callback_reasons, SocketEvent?)] = [
            (LWS_CALLBACK_RAW_CONNECTED, .connected), (LWS_CALLBACK_RAW_ADOPT, nil),
            (LWS_CALLBACK_RAW_RX, .received), (LWS_CALLBACK_RAW_WRITEABLE, .writable),
            (LWS_CALLBACK_CLIENT_CONNECTION_ERROR, .ended), (LWS_CALLBACK_RAW_CLOSE, .ended),
            (LWS_CALLBACK_WSI_DESTROY, .ended), (LWS_CALLBACK_WSI_CREATE, nil), (LWS_CALLBACK_PROTOCOL_INIT, nil),
            (LWS_CALLBACK_PROTOCOL_DESTROY, nil), (LWS_CALLBACK_GET_THREAD_ID, nil),
            (LWS_CALLBACK_EVENT_WAIT_CANCELLED, nil), (LWS_CALLBACK_FILTER_NETWORK_CONNECTION, nil),
            (LWS_CALLBACK_RAW_SKT_BIND_PROTOCOL, nil), (LWS_CALLBACK_RAW_SKT_DROP_PROTOCOL, nil),
        ]
        for (reason, meaning) in meanings { #expect(SocketEvent(reason) == meaning, "\(reason.rawValue)") }
    }

    private func context() throws -> WebSocketContext {
        let client = WebSocketClient(
            configuration: try configuration(port: 1), onEvent: { _ in }, onMessage: { _, _ in })
        let made = WebSocketContext(ClientLoop(client), of: client)
        guard let made else { throw SystemError(.system, "libwebsockets cannot make a context") }
        return made
    }

    @Test func `Two contexts have no log in common, because its users are counted without a lock`() throws {
        // Debian 12: libwebsockets 4.1 counts none.
        guard let symbol = unsafe dlsym(nil, "lwsl_context_get_cx") else { return }
        let log = unsafe unsafeBitCast(symbol, to: (@convention(c) (OpaquePointer) -> OpaquePointer?).self)
        let one = try context()
        let two = try context()
        #expect(unsafe log(one.context) != log(two.context))
    }
}
