import AirQuality
import FeedOptions
import Synchronization
import System
import WebSocket

/// The feeds being read, each on its own thread: those of flags, the demo, and those of `--feed.file`.
final class FeedSet: Sendable {
    private let configuration: Configuration
    private let store: ReadingStore
    private let logger: Logger
    /// The feeds at the start, in the order of the store.
    private let initial: [ConfiguredFeed]
    private let current = Mutex<[FeedReceiver]>([])
    /// Locked while feeds are paused, resumed or replaced, so that decisions take effect in order.
    let usage: Monitor<Usage>
    /// Whether feeds are being read. Locked by start, reload and stop; locked before `current`.
    private let isRunning = Mutex(false)

    /// Whether anything still reads the feeds' data.
    struct Usage {
        /// Monotonic time.
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
            var settings = FeedSettings()
            settings.client = configuration.feed.client
            settings.client.reply = nil
            feeds.append(ConfiguredFeed(label: Configuration.demoLabel, address: demo, settings: settings))
        }
        initial = feeds
        usage = Monitor(Usage(lastReadAt: monotonicTime()))
        for feed in feeds { _ = store.setFeed(label: feed.label, idleTimeout: feed.idleTimeout) }
    }

    /// Raises the limit of open files to what this many feeds and the rest need, or throws an error with both numbers
    /// if files or threads do not suffice.
    ///
    /// - Parameter running: the number of feeds whose threads have been started, as those of the rest have then.
    static func requireResources(forFeeds count: Int, running: Int? = nil) throws(SystemError) {
        // Half of the 64 are for connections, the other half for storage, files and the log.
        try OpenFileLimit.require(64 + 8 * count)
        // The same division; a feed has a thread, and a process if a jq program reads it.
        try TaskLimit.require(running.map { 2 * (count - $0) } ?? 64 + 2 * count)
    }

    func start() throws {
        try isRunning.withLock { isRunning in
            let receivers = try initial.map { try FeedReceiver($0, isPaused: false, store: store, logger: logger) }
            current.withLock { $0 = receivers }
            isRunning = true
        }
    }

    /// Disconnects from all feeds permanently.
    func stop() {
        isRunning.withLock { isRunning in
            isRunning = false
            for receiver in receivers { receiver.client.stop() }
            for receiver in receivers { receiver.thread.join() }
        }
    }

    /// Records that something has read the feeds' data, and ends a pause.
    func noteRead(at now: Duration) {
        usage.change { usage in
            usage.lastReadAt = now
            guard usage.isPaused else { return }
            usage.isPaused = false
            for receiver in receivers { receiver.client.resume() }
        }
    }

    /// Pauses the feeds if nothing has read their data for long enough.
    func pauseIfUnused(at now: Duration) {
        usage.change { usage in
            let limit = configuration.pauseWhenUnused
            guard limit > .zero, !usage.isPaused, now - usage.lastReadAt >= limit else { return }
            usage.isPaused = true
            for receiver in receivers { receiver.client.pause() }
        }
    }

    /// Reconnects all feeds, and ends a pause as a read does.
    func reconnect(at now: Duration) {
        usage.change { usage in
            usage = Usage(lastReadAt: now)
            for receiver in receivers { receiver.client.reconnect() }
        }
    }

    private var receivers: [FeedReceiver] { current.withLock { $0 } }

    /// Rereads the files, connects to new feeds, disconnects from removed ones and reconnects changed ones. Changes
    /// nothing if a file is invalid. Blocks until old connections are closed. Logs and returns the problem in one line.
    func reload() -> String? {
        isRunning.withLock { isRunning in
            guard isRunning else { return "the feeds are being started or stopped" }
            let wanted: [ConfiguredFeed]
            do {
                wanted = try configuration.configuredFeeds()
                try Self.requireResources(forFeeds: wanted.count, running: receivers.count)
                try configuration.feed.client.checkFiles()
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
            if !wanted.contains(where: { $0.label.utf8.elementsEqual(label) }) {
                store.removeFeed(receiver.feedIndex, at: currentTime())
            }
        }
        let new = wanted.filter { feed in !kept.contains { $0.feed.label == feed.label } }
        var problem: String?
        // Under the lock, so that later pauses and reads apply to these feeds too.
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
            let labels = Set(old.map(\.feed.label) + new.map(\.label)).sorted().joined(separator: ", ")
            logger.info("Feeds loaded", metadata: ["feeds": "\(kept.count)", "changed": "\(labels)"])
        }
        return problem
    }
}
