import Bytes
import System
import TestSupport
import WebSocket

/// A client of a feed that keeps its messages and does not reconnect during a test.
final class FeedListener {
    private let heard = Monitor<(messages: [String], end: DisconnectReason?)>(([], nil))
    private let client: WebSocketClient
    private let thread: ServiceThread

    init(_ address: String) throws {
        var configuration = WebSocketClientConfiguration(address: try WebSocketAddress(address))
        configuration.reconnectMinimum = .seconds(36_000)
        configuration.reconnectMaximum = .seconds(36_000)
        let heard = heard
        let client = WebSocketClient(
            configuration: configuration,
            onEvent: { event in
                if case .disconnected(let reason, _, _, _) = event { heard.change { $0.end = $0.end ?? reason } }
            },
            onMessage: { _, message in
                let text = unsafe message.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
                heard.change { $0.messages.append(text) }
                return MessageOutcome()
            })
        self.client = client
        thread = try ServiceThread(name: "listener") { client.run() }
    }

    deinit {
        client.stop()
        thread.join()
    }

    var messages: [String] { heard.read(\.messages) }
    /// How the connection ended.
    var end: DisconnectReason? { heard.read(\.end) }

    func waitForMessages(_ count: Int) -> Bool { wait { messages.count >= count } }
    func waitForEnd() -> Bool { wait { end != nil } }
}
