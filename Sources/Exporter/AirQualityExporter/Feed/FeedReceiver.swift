import AirQuality
import CommandLine
import FeedOptions
import Synchronization
import System
import WebSocket

/// One feed: its connection, on a thread of its own.
final class FeedReceiver: Sendable {
    let feed: ConfiguredFeed
    /// The feed's place in the store.
    let number: Int
    let client: WebSocketClient
    /// `nil` before ``start()``.
    private let thread = Mutex<ServiceThread?>(nil)

    /// Makes the client of a feed. Headers from the feed's file are read at each connect.
    init(_ feed: ConfiguredFeed, store: ReadingStore, logger: Logger) {
        self.feed = feed
        number = store.setFeed(label: feed.label, idleTimeout: feed.idleTimeout)
        // Both closures are called on the feed's thread, and nobody else calls the handler.
        let handler = Mutex(FeedHandler(feed, number: number, store: store, logger: logger))
        client = WebSocketClient(
            configuration: WebSocketClientConfiguration(
                address: feed.address, options: feed.settings.feed, flag: Configuration.feedFlag),
            onEvent: { event in handler.withLock { $0.handle(event) } },
            onMessage: { kind, message in handler.withLock { $0.receive(kind, message) } })
    }

    /// Connects and reconnects until the client is stopped.
    func start() throws(SystemError) {
        let thread = try ServiceThread(name: "feed", body: client.run)
        self.thread.withLock { $0 = thread }
    }

    /// Waits until it has stopped.
    func join() { thread.withLock { $0.take() }?.join() }
}
