import Bytes
import FeedProtocol
import Synchronization
import System
import TestSupport
import WebSocket

/// A client of a feed that keeps what it hears. Once disconnected it stays so for the time of a test.
final class FeedListener {
    private final class Heard: Sendable {
        let messages = Mutex<[String]>([])
        let end = Mutex<DisconnectReason?>(nil)
    }

    private let heard = Heard()
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
                if case .disconnected(let reason, _, _) = event { heard.end.withLock { $0 = $0 ?? reason } }
            },
            onMessage: { _, message in
                let text = unsafe message.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
                heard.messages.withLock { $0.append(text) }
            })
        self.client = client
        thread = try ServiceThread(name: "listener") { client.run() }
    }

    deinit {
        client.stop()
        thread.join()
    }

    var messages: [String] { heard.messages.withLock { $0 } }
    /// How the connection has ended.
    var end: DisconnectReason? { heard.end.withLock { $0 } }

    func waitForMessages(_ count: Int) -> Bool { wait { messages.count >= count } }
    func waitForEnd() -> Bool { wait { end != nil } }
}
