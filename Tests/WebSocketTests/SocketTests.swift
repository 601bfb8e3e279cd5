import CLibWebSockets
import Testing

@testable import WebSocket

@Suite struct SocketTests {
    @Test("what libwebsockets says, and what it means") func events() {
        let meanings: [(lws_callback_reasons, SocketEvent?)] = [
            (LWS_CALLBACK_RAW_CONNECTED, .connected), (LWS_CALLBACK_RAW_ADOPT, .connected),
            (LWS_CALLBACK_RAW_RX, .received), (LWS_CALLBACK_RAW_WRITEABLE, .writable),
            (LWS_CALLBACK_CLIENT_CONNECTION_ERROR, .ended), (LWS_CALLBACK_RAW_CLOSE, .ended),
            (LWS_CALLBACK_WSI_DESTROY, .ended), (LWS_CALLBACK_WSI_CREATE, nil), (LWS_CALLBACK_PROTOCOL_INIT, nil),
            (LWS_CALLBACK_PROTOCOL_DESTROY, nil), (LWS_CALLBACK_GET_THREAD_ID, nil),
            (LWS_CALLBACK_EVENT_WAIT_CANCELLED, nil), (LWS_CALLBACK_FILTER_NETWORK_CONNECTION, nil),
            (LWS_CALLBACK_RAW_SKT_BIND_PROTOCOL, nil), (LWS_CALLBACK_RAW_SKT_DROP_PROTOCOL, nil),
        ]
        for (reason, meaning) in meanings {
            #expect(SocketEvent(reason) == meaning, "\(reason.rawValue)")
        }
    }
}
