import CLibWebSockets
import Glibc
import System
import Testing

@testable import WebSocket

@Suite struct SocketTests {
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
        let made = WebSocketContext(ClientLoop(client), waker: client.waker)
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

@Suite struct WaitingBytesTests {
    @Test(arguments: [1, 7, 5000, 16 << 10, 1 << 20])
    func `Waiting bytes come out in the order in which they went in`(atMost: Int) {
        var waiting = WaitingBytes()
        var (sent, expected): ([UInt8], [UInt8]) = ([], [])
        for step in 0..<200 {
            let message = [UInt8](repeating: UInt8(step), count: [1, 300, 16 << 10, 20_000][step % 4])
            waiting.append(message)
            expected += message
            // Every third message finds what is before it still waiting.
            while step % 3 == 0, let first = waiting.first {
                let taken = first.prefix(atMost)
                sent += taken
                waiting.removeFirst(taken.count)
            }
        }
        while let first = waiting.first {
            sent += first
            waiting.removeFirst(first.count)
        }
        #expect(sent == expected)
        #expect(waiting.isEmpty)
    }
}
