import AirQuality
import Bytes
import CommandLine
import Synchronization
import System
import WebSocket

/// One feed: its connection, on a thread of its own, and the handling of its events and messages.
final class FeedReceiver: Sendable {
    let label: String
    private let client: WebSocketClient

    /// - Parameters:
    ///   - number: the feed's place in the store.
    ///   - connection: how to connect; headers from the file are read at each connect.
    init(
        label: String, number: Int, address: WebSocketAddress, connection: FeedClientOptions,
        format: FeedFormat, store: ReadingStore, logger: Logger
    ) {
        self.label = label
        // The decoder is only used on the feed's thread, so nobody ever waits for this lock.
        let decoder = Mutex(FeedDecoder(format: format))
        let log = Mutex(FeedLog(label: label))
        client = WebSocketClient(
            configuration: WebSocketClientConfiguration(
                address: address, options: connection, flag: Configuration.feedFlag),
            onEvent: { event in
                let event = FeedEvent(event)
                if case .connected = event { decoder.withLock { $0.beginConnection() } }
                if let entry = log.withLock({ $0.entry(for: event, at: monotonicTime()) }) { logger.log(entry) }
                store.apply(event, feed: number)
            },
            onMessage: { kind, message in
                let now = currentTime()
                var refused = RefusalCounts()
                switch kind {
                case .text:
                    let unknownPollutants = decoder.withLock { decoder in
                        decoder.decode(message, receivedAt: now) { part, names in
                            refused += store.record(part, names: names, feed: number)
                        }
                        return decoder.takeUnknownPollutants()
                    }
                    for name in unknownPollutants {
                        logger.warning(
                            "Unknown pollutant skipped",
                            metadata: ["pollutant": "\(name)", "feed": "\(label)"])
                    }
                case .binary:
                    refused = store.refuse(.notText, byteCount: message.count, feed: number, receivedAt: now)
                case .tooLarge(let count):
                    refused = store.refuse(.tooLarge, byteCount: count, feed: number, receivedAt: now)
                }
                guard refused != RefusalCounts() else { return }
                if refused[.cityLimit] > 0 {
                    for name in store.takeRefusedNames() {
                        logger.warning(
                            "City refused: \(Configuration.flag(\.cityLimit)) is reached",
                            metadata: ["city": "\(name)", "limit": "\(store.rules.cityLimit)"])
                    }
                }
                for reason in log.withLock({ $0.due(refused, at: monotonicTime()) }) {
                    guard let feed = store.feeds.first(where: { $0.label == label }) else { continue }
                    let metadata: Logger.Metadata = ["feed": label]
                    logger.warning(
                        "Readings refused", metadata: metadata.merging(Logger.Metadata(reason, of: feed.connection)))
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
    init(_ event: WebSocketEvent) {
        self =
            switch event {
            case .connecting: .connecting
            case .connected(let fields): .connected(FeedSource(fields))
            case .disconnected(let reason, let detail, _): .disconnected(reason, detail: detail)
            case .paused: .paused
            case .resumed: .resumed
            }
    }
}
