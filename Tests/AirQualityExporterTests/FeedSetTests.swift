import System
import TestSupport
import Testing

@testable import AirQuality
@testable import AirQualityExporter

struct FeedSetTests {
    private let lines = WrittenLines()

    @Test(
        arguments: [
            (60, [], 59, false), (60, [], 60, true), (60, [], 300, true), (60, [59], 118, false), (60, [59], 119, true),
            (60, [59, 201], 260, false), (60, [59, 201, 202], 262, true), (0, [], 1 << 40, false),
        ] as [(Int, [Int], Int, Bool)])
    func `Feeds are paused when unread, and resumed by a read`(limit: Int, reads: [Int], second: Int, isPaused: Bool) {
        var configuration = Configuration()
        configuration.pauseWhenUnused = .seconds(limit)
        let store = ReadingStore(rules: StoreRules(), feeds: [], at: 0)
        let feeds = FeedSet(configuration, feeds: [], demo: nil, store: store, logger: Logger(write: lines.append))
        let start = feeds.usage.read(\.lastReadAt)
        for read in reads {
            feeds.pauseIfUnused(at: start + .seconds(read))
            feeds.noteRead(at: start + .seconds(read))
        }
        feeds.pauseIfUnused(at: start + .seconds(second))
        #expect(feeds.usage.read(\.isPaused) == isPaused)
        // A pause that was ended by hand comes again.
        feeds.reconnect(at: start + .seconds(second))
        #expect(!feeds.usage.read(\.isPaused))
        feeds.pauseIfUnused(at: start + .seconds(second + limit))
        #expect(feeds.usage.read(\.isPaused) == (limit > 0))
    }

    @Test func `A read that ends a pause during a reload resumes the new feeds as well`() throws {
        let directory = TemporaryDirectory()
        var configuration = Configuration()
        configuration.pauseWhenUnused = .seconds(60)
        configuration.feedFile = directory.write("feeds.yml", "- url: ws://127.0.0.1:1/old")
        let store = ReadingStore(rules: StoreRules(), feeds: [], at: 0)
        let feeds = FeedSet(
            configuration, feeds: try configuration.configuredFeeds(), demo: nil, store: store,
            logger: Logger(write: lines.append))
        try feeds.start()
        defer { feeds.stop() }
        feeds.pauseIfUnused(at: feeds.usage.read(\.lastReadAt) + .seconds(60))
        eventually("the pause") { store.feeds.allSatisfy(\.isPaused) }
        directory.write("feeds.yml", "- url: ws://127.0.0.1:1/new")
        let start = Gate()
        let reload = try ServiceThread(name: "reload") {
            start.wait()
            _ = feeds.reload()
        }
        feeds.usage.change { usage in
            start.open()
            eventually("the end of the old feed") { !store.feeds.contains { $0.label.hasSuffix("old") } }
            usage.isPaused = false
        }
        reload.join()
        eventually("an attempt to connect") { store.feeds.contains { $0.connectionAttempts > 0 } }
    }

    @Test func `A feed that a reload adds during a pause is not dialled`() throws {
        let directory = TemporaryDirectory()
        var configuration = Configuration()
        configuration.pauseWhenUnused = .seconds(60)
        configuration.feedFile = directory.write("feeds.yml", "[]")
        let store = ReadingStore(rules: StoreRules(), feeds: [], at: 0)
        let feeds = FeedSet(configuration, feeds: [], demo: nil, store: store, logger: Logger(write: lines.append))
        try feeds.start()
        defer { feeds.stop() }
        feeds.pauseIfUnused(at: feeds.usage.read(\.lastReadAt) + .seconds(60))
        directory.write("feeds.yml", "- url: ws://127.0.0.1:1/new")
        #expect(feeds.reload() == nil)
        eventually("the pause") { store.feeds.map(\.isPaused) == [true] }
        #expect(store.feeds.map(\.connectionAttempts) == [0])
    }
}
