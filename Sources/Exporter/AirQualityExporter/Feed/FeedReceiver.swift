import AirQuality
import FeedOptions
import Synchronization
import System
import WebSocket

/// A feed being read on a thread of its own: connects and reconnects until it is stopped.
struct FeedReceiver: Sendable {
    let feed: ConfiguredFeed
    /// The feed's index in the store.
    let feedIndex: Int
    let client: WebSocketClient
    let thread: ServiceThread

    /// Starts at once. Rereads the feed's header file at each connect.
    init(_ feed: ConfiguredFeed, isPaused: Bool, store: ReadingStore, logger: Logger) throws(SystemError) {
        self.feed = feed
        feedIndex = store.setFeed(label: feed.label, idleTimeout: feed.idleTimeout)
        // The closures are called on the feed's thread, and nothing else calls the handler.
        let handler = Mutex(FeedHandler(feed, feedIndex: feedIndex, store: store, logger: logger))
        var configuration = feed.settings.client.configuration(of: feed.address, userAgent: BuildVersion.userAgent)
        configuration.greeting = { handler.withLock { $0.greeting() } }
        client = WebSocketClient(
            configuration: configuration,
            onEvent: { event in handler.withLock { $0.handle(event) } },
            onMessage: { kind, message in handler.withLock { $0.receive(kind, message) } })
        if isPaused { client.pause() }
        do throws(SystemError) {
            thread = try ServiceThread(name: "feed", body: client.run)
        } catch {
            store.removeFeed(feedIndex, at: currentTime())
            throw error
        }
    }
}
