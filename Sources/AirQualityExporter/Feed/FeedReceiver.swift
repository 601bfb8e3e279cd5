import AirQuality
import Logging
import Synchronization
import System
import WebSocket

/// One feed: its connection, on a thread of its own, and what becomes of what it says.
final class FeedReceiver: Sendable {
    let label: String
    private let client: WebSocketClient

    /// - Parameters:
    ///   - number: the feed's place in the store.
    ///   - connection: how to connect; headers from the file are read at each connect.
    init(
        label: String, number: Int, address: WebSocketAddress, connection: Configuration.Connection,
        format: FeedFormat, store: ReadingStore, logger: Logger
    ) {
        self.label = label
        // The decoder is only used on the feed's thread, so nobody ever waits for this lock.
        let decoder = Mutex(FeedDecoder(format: format, hashSeed: store.rules.hashSeed))
        let log = Mutex(FeedLog(label: label))
        client = WebSocketClient(
            configuration: WebSocketClientConfiguration(address, connection),
            onEvent: { event in
                if let entry = log.withLock({ $0.entry(for: event) }) { logger.log(entry) }
                for event in FeedEvent.all(event) { store.apply(event, feed: number) }
            },
            onMessage: { kind, message in
                let now = currentTime()
                switch kind {
                case .text:
                    let hasRefusedNames = decoder.withLock {
                        store.record(message, with: &$0, feed: number, receivedAt: now)
                    }
                    if hasRefusedNames {
                        for name in store.takeRefusedNames() {
                            logger.warning(
                                "City refused: --\(FlagName.cityLimit) is reached",
                                metadata: ["city": "\(name)", "limit": "\(store.rules.cityLimit)"])
                        }
                    }
                case .binary:
                    store.refuse(.notText, count: message.count, feed: number, receivedAt: now)
                case .tooLarge(let count):
                    store.refuse(.tooLarge, count: count, feed: number, receivedAt: now)
                }
            })
    }

    /// Connects and reconnects until ``stop()``; blocks.
    func run() { client.run() }
    func stop() { client.stop() }
    func reconnect() { client.reconnect() }
    func pause() { client.pause() }
    func resume() { client.resume() }

    /// Whether the feed's loop has not turned for much longer than it ever sleeps.
    var isStuck: Bool { monotonicTime() - client.lastTick > WebSocketClient.maximumSleep * 3 }
}

extension FeedEvent {
    /// What the store has to know of an event of the connection.
    static func all(_ event: WebSocketEvent) -> [FeedEvent] {
        switch event {
        case .connecting: [.connecting]
        case .connected: [.connected]
        case .disconnected(let reason, let detail, _):
            AirQuality.DisconnectReason(rawValue: reason.rawValue).map { [.disconnected($0, detail: detail)] } ?? []
        case .paused: [.paused]
        case .resumed: [.resumed]
        }
    }
}
