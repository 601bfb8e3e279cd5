import AirQuality
import FeedOptions
import Synchronization
import System
import WebSocket

/// The feeds that are read, each on a thread of its own: those of the flags, the embedded one, and those of
/// `--feed.file`, which a reload may change.
final class FeedSet: Sendable {
    private let configuration: Configuration
    private let store: ReadingStore
    private let logger: Logger
    /// The feeds of the start, in the order of the store's.
    private let initial: [ConfiguredFeed]
    private let current = Mutex<[FeedReceiver]>([])
    /// Locked while feeds are paused, resumed or replaced, so that the last to decide is the last to do it.
    let usage: Monitor<Usage>
    /// Whether feeds are read. Held by the start, by one reload at a time, and by the end; taken before `current`.
    private let isRunning = Mutex(false)

    /// Whether anybody still reads what the feeds bring.
    struct Usage {
        /// By the monotonic clock.
        var lastReadAt: Duration
        var isPaused = false
    }

    /// - Parameter demo: the address of the embedded feed, which comes last.
    init(
        _ configuration: Configuration, feeds: [ConfiguredFeed], demo: WebSocketAddress?, store: ReadingStore,
        logger: Logger
    ) {
        self.configuration = configuration
        self.store = store
        self.logger = logger
        var feeds = feeds
        if let demo {
            var settings = configuration
            settings.program = nil
            settings.format = DemoFeed.format
            settings.format.shard = configuration.format.shard
            feeds.append(ConfiguredFeed(label: Configuration.demoLabel, address: demo, settings: settings))
        }
        initial = feeds
        usage = Monitor(Usage(lastReadAt: monotonicTime()))
        for feed in feeds { _ = store.setFeed(label: feed.label, idleTimeout: feed.idleTimeout) }
    }

    /// Raises the limit of open files to what so many feeds and the rest need, or throws an error with both numbers.
    static func requireFiles(forFeeds count: Int) throws(SystemError) {
        // Half of the 64 for connections, the other half for storage, files and the log.
        try OpenFileLimit.require(64 + 8 * count)
    }

    /// Dials all feeds.
    func start() throws {
        try isRunning.withLock { isRunning in
            let receivers = try initial.map { try FeedReceiver($0, isPaused: false, store: store, logger: logger) }
            current.withLock { $0 = receivers }
            isRunning = true
        }
    }

    /// Closes all feeds, for good.
    func stop() {
        isRunning.withLock { isRunning in
            isRunning = false
            for receiver in receivers { receiver.client.stop() }
            for receiver in receivers { receiver.thread.join() }
        }
    }

    /// Notes that somebody has read what the feeds bring, and ends their pause.
    func noteRead(at now: Duration) {
        usage.change { usage in
            usage.lastReadAt = now
            guard usage.isPaused else { return }
            usage.isPaused = false
            for receiver in receivers { receiver.client.resume() }
        }
    }

    /// Pauses the feeds when nobody has read for long enough.
    func pauseIfUnused(at now: Duration) {
        usage.change { usage in
            let limit = configuration.pauseWhenUnused
            guard limit > .zero, !usage.isPaused, now - usage.lastReadAt >= limit else { return }
            usage.isPaused = true
            for receiver in receivers { receiver.client.pause() }
        }
    }

    /// Dials all feeds anew, which ends their pause like a read.
    func reconnect(at now: Duration) {
        usage.change { usage in
            usage = Usage(lastReadAt: now)
            for receiver in receivers { receiver.client.reconnect() }
        }
    }

    private var receivers: [FeedReceiver] { current.withLock { $0 } }

    /// Reads the files again: feeds that are new, gone or changed are dialled, closed, redialled, the others are not
    /// touched. Nothing changes where a file is bad. Blocks as long as the closed connections need. Returns `nil`, or
    /// what is wrong in one line, which is logged as well.
    func reload() -> String? {
        isRunning.withLock { isRunning in
            guard isRunning else { return "the feeds are being started or stopped" }
            let wanted: [ConfiguredFeed]
            do {
                wanted = try configuration.configuredFeeds()
                try Self.requireFiles(forFeeds: wanted.count)
                try configuration.feed.checkFiles()
            } catch {
                logger.error("Feeds not loaded, keeping the previous ones", metadata: ["err": "\(error)"])
                return "\(error)"
            }
            return configuration.feedFile == nil ? nil : replace(with: wanted)
        }
    }

    private func replace(with wanted: [ConfiguredFeed]) -> String? {
        func isKept(_ receiver: FeedReceiver) -> Bool {
            guard let entry = receiver.feed.entry else { return true }
            return wanted.contains { $0.label == receiver.feed.label && $0.entry == entry }
        }
        var kept = receivers.filter(isKept)
        let old = receivers.filter { !isKept($0) }
        for receiver in old { receiver.client.stop() }
        for receiver in old {
            receiver.thread.join()
            let label = receiver.feed.label.utf8
            if !wanted.contains(where: { $0.label.utf8.elementsEqual(label) }) { store.removeFeed(receiver.number) }
        }
        let new = wanted.filter { feed in !kept.contains { $0.feed.label == feed.label } }
        var problem: String?
        // A pause or a read from now on meets these feeds too.
        usage.change { usage in
            for feed in new {
                do throws(SystemError) {
                    kept.append(try FeedReceiver(feed, isPaused: usage.isPaused, store: store, logger: logger))
                } catch {
                    problem = "\(feed.label): \(error.reason)"
                    logger.error("Feed not started", metadata: ["feed": feed.label, "err": error.reason])
                }
            }
            current.withLock { [kept] in $0 = kept }
        }
        if old.isEmpty && new.isEmpty {
            logger.info("Feeds unchanged")
        } else {
            configuration.warn(logger, of: new)
            let labels = Set(old.map(\.feed.label) + new.map(\.label))
            logger.info(
                "Feeds loaded", metadata: ["feeds": "\(kept.count)", "changed": labels.sorted().joined(separator: " ")])
        }
        return problem
    }
}
