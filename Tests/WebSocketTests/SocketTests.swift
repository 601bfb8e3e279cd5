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

@Suite struct WaitingBytesTests {
    @Test("bytes come out in the order in which they went in", arguments: [1, 7, 5000, 16 << 10, 1 << 20])
    func order(atMost: Int) {
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
            #expect(waiting.count == expected.count - sent.count)
        }
        while let first = waiting.first {
            sent += first
            waiting.removeFirst(first.count)
        }
        #expect(sent == expected)
        #expect(waiting.placeCount == 0)
    }

    @Test("a peer that is always a message behind costs no more with each message") func alwaysBehind() {
        let message = [UInt8](repeating: 0, count: 16 << 10)
        var waiting = WaitingBytes()
        waiting.append(message)
        for _ in 0..<10_000 {
            waiting.append(message)
            waiting.removeFirst(message.count)
        }
        #expect(waiting.count == message.count)
        #expect(waiting.placeCount < 100)
    }
}
