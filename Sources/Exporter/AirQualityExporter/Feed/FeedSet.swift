import AirQuality
import CommandLine
import Synchronization
import System
import WebSocket

/// The feeds that are read, each on a thread of its own: those of the flags, the embedded one, and those of
/// `--feed.file`, which a reload may change.
final class FeedSet: Sendable {
    private struct Member: Sendable {
        var label: String
        /// Nil: of the embedded feed.
        var feed: ConfiguredFeed?
        var number: Int
        var receiver: FeedReceiver
        var thread: ServiceThread?
    }

    private let configuration: Configuration
    private let store: ReadingStore
    private let logger: Logger
    private let members: Mutex<[Member]>
    /// Held by one reload at a time, and by the end; taken before `members`.
    private let changing = Mutex(false)

    /// - Parameters:
    ///   - feeds: in the order of the store's.
    ///   - demo: of the embedded feed, which comes last.
    init(
        _ configuration: Configuration, feeds: [ConfiguredFeed], demo: WebSocketAddress?, store: ReadingStore,
        logger: Logger
    ) {
        self.configuration = configuration
        self.store = store
        self.logger = logger
        var members = feeds.map { Self.member($0, store, logger) }
        if let demo {
            let feed = ConfiguredFeed(label: Configuration.demoLabel, address: demo, settings: configuration)
            members.append(Self.member(feed, store, logger))
        }
        self.members = Mutex(members)
    }

    private static func member(_ feed: ConfiguredFeed, _ store: ReadingStore, _ logger: Logger) -> Member {
        let number = store.setFeed(label: feed.label, idleTimeout: feed.idleTimeout)
        let receiver = FeedReceiver(
            label: feed.label, number: number, address: feed.address, connection: feed.settings.feed,
            format: feed.settings.format, store: store, logger: logger)
        return Member(label: feed.label, feed: feed, number: number, receiver: receiver)
    }

    /// Dials all feeds.
    func start() throws {
        try changing.withLock { _ in
            var members = members.withLock { $0 }
            for index in members.indices {
                members[index].thread = try ServiceThread(name: "feed", body: members[index].receiver.run)
            }
            self.members.withLock { $0 = members }
        }
    }

    /// Closes all feeds, for good.
    func stop() {
        changing.withLock { isStopped in
            isStopped = true
            let members = members.withLock { $0 }
            for member in members { member.receiver.stop() }
            for member in members { member.thread?.join() }
        }
    }

    func pause() { for receiver in receivers { receiver.pause() } }
    func resume() { for receiver in receivers { receiver.resume() } }
    func reconnect() { for receiver in receivers { receiver.reconnect() } }
    /// The labels of the feeds whose loop is stuck.
    var stuck: [String] { receivers.filter(\.isStuck).map(\.label) }
    private var receivers: [FeedReceiver] { members.withLock { $0.map(\.receiver) } }

    /// Reads the files again: feeds that are new, gone or changed are dialled, closed, redialled, the others are not
    /// touched. Nothing changes where a file is bad. Blocks as long as the closed connections need.
    ///
    /// - Returns: nil, or what is wrong in one line, which is logged as well.
    func reload() -> String? {
        changing.withLock { isStopped in
            if isStopped { return nil }
            let wanted: [ConfiguredFeed]
            do throws(FlagError) {
                wanted = try configuration.configuredFeeds()
            } catch {
                logger.error("Feeds not loaded, keeping the previous ones", metadata: ["err": error.line])
                return error.line
            }
            if let problem = configuration.feed.reload(logger: logger) { return problem }
            guard configuration.feedFile != nil else { return nil }
            return replace(with: wanted)
        }
    }

    private func replace(with wanted: [ConfiguredFeed]) -> String? {
        var members = members.withLock { $0 }
        let isPaused = store.feeds.contains { $0.isPaused }
        let old = members.filter { member in
            guard let entry = member.feed?.entry else { return false }
            return !wanted.contains { $0.label == member.label && $0.entry == entry }
        }
        for member in old { member.receiver.stop() }
        for member in old {
            member.thread?.join()
            if !wanted.contains(where: { $0.label == member.label }) { store.removeFeed(member.number) }
        }
        members.removeAll { member in old.contains { $0.label == member.label } }
        let new = wanted.filter { feed in !members.contains { $0.label == feed.label } }
        var problem: String?
        for feed in new {
            var member = Self.member(feed, store, logger)
            if isPaused { member.receiver.pause() }
            do throws(SystemError) {
                member.thread = try ServiceThread(name: "feed", body: member.receiver.run)
                members.append(member)
            } catch {
                problem = "\(feed.label): \(error.reason)"
            }
        }
        let kept = members
        self.members.withLock { $0 = kept }
        if old.isEmpty && new.isEmpty {
            logger.info("Feeds unchanged")
        } else {
            configuration.warn(logger, of: new)
            let labels = Set((old.map(\.label) + new.map(\.label)))
            logger.info(
                "Feeds loaded", metadata: ["feeds": "\(kept.count)", "changed": labels.sorted().joined(separator: " ")])
        }
        return problem
    }
}
