import AirQuality
import Bytes
import Exposition
import FeedOptions
import HTTPServer
import Storage
import Synchronization
import System
import WebConfiguration
import WebSocket

/// The object graph, and its life from start to stop.
final class Exporter: Sendable {
    let store: ReadingStore
    let server: HTTPServer
    private let logger: Logger
    private let feeds: FeedSet
    private let demo: DemoFeed?
    private let storage: StorageService?
    private let usage: FeedUsage
    private let events: EventHub
    private let webWatcher: WebConfigurationWatcher
    /// Reads files, which may hang: nothing else waits for them.
    private let files = WorkQueue(name: "files", limit: 8)
    /// Reads the files again that the flags name; `nil` when all is well, else what is wrong, in one line.
    private let reload: @Sendable () -> String?
    private let signals: Signals

    /// Opens what a start needs: storage, the demo feed, listening sockets. From then on `/metrics` is answered; feeds
    /// are dialled by ``run()``.
    init(
        _ configuration: Configuration, feeds configuredFeeds: [ConfiguredFeed], logger: Logger, signals: Signals
    ) throws {
        self.logger = logger
        self.signals = signals
        demo = configuration.isDemo ? try DemoFeed(at: monotonicTime()) : nil
        store = ReadingStore(rules: StoreRules(configuration, feeds: configuredFeeds), feeds: [], at: currentTime())
        storage = try configuration.storageFile.map { [store] in
            try StorageService(path: $0, store: store, logger: logger)
        }
        feeds = FeedSet(configuration, feeds: configuredFeeds, demo: demo?.address, store: store, logger: logger)
        usage = FeedUsage(limit: configuration.pauseWhenUnused, at: monotonicTime())
        let lastReload = LastReload(at: currentTime())
        webWatcher = try WebConfigurationWatcher(
            path: configuration.web.configFile, logger: logger, queue: files,
            onReload: { lastReload.record([.web: $0], at: currentTime()) })
        reload = { [feeds, webWatcher] in
            let feeds = feeds.reload()
            let web = webWatcher.reload()
            lastReload.record([.feeds: feeds == nil, .web: web == nil], at: currentTime())
            let problems = [feeds, web].compactMap { $0 }
            if problems.isEmpty, configuration.namesNoFile { logger.info("Nothing to reload: no flag names a file") }
            return problems.isEmpty ? nil : problems.joined(separator: "; ")
        }
        events = EventHub(store: store, onFirst: signals.wake, at: currentTime())
        // Present from the start, as with the client libraries, so that rate() sees the first one.
        let scrapes = HTTPMeter(statuses: [200, 500, 503])
        let handshakes = HandshakeFailures(logger: logger)
        let metrics = MetricsEndpoint(
            store: store,
            families: Set(configuration.cityFamilies.isEmpty ? CityFamilyName.allCases : configuration.cityFamilies),
            scrapes: configuration.web.omitsExporterMetrics ? nil : scrapes,
            handshakes: webWatcher.initial.tls == nil ? nil : handshakes, storage: storage?.file, events: events,
            lastReload: lastReload)
        let health = Health(store: store)
        var endpoints = Endpoints(
            metrics: metrics, history: HistoryEndpoint(store: store, corsOrigin: configuration.web.corsOrigin),
            health: health,
            page: PageEndpoint(store: store, health: health, web: configuration.web, version: BuildVersion.version),
            events: events, scrapes: scrapes, scrapeLimit: .scrapes(configuration.web.maximumRequests))
        endpoints.isLifecycleEnabled = configuration.web.isLifecycleEnabled
        endpoints.onRead = { [feeds, usage] in
            guard usage.read(at: monotonicTime()) == .resume else { return }
            feeds.resume()
            // The supervisor has a new time to wait for.
            signals.wake()
        }
        endpoints.reconnect = feeds.reconnect
        endpoints.reload = { [files, reload] in Self.run(reload, on: files) }
        var server = HTTPServerConfiguration(
            addresses: configuration.web.listenAddresses,
            routes: ExporterRoute.all(telemetryPath: configuration.web.telemetryPath).map { [endpoints] in
                $0.route(to: endpoints)
            })
        server.usesSystemdSockets = configuration.web.usesSystemdSockets
        server.web = webWatcher.initial
        server.notFound = "not found; see /about for all paths"
        server.onTLSHandshakeFailure = handshakes.note
        self.server = try HTTPServer(configuration: server)
        webWatcher.follow(self.server)
        if webWatcher.initial.tls != nil, webWatcher.initial.allowsHTTP2 { logger.debug("HTTP/2 is not supported") }
    }

    /// Runs a reload on the queue, and gives its result, or after 10 s that there is none.
    private static func run(_ reload: @escaping @Sendable () -> String?, on files: WorkQueue) -> String? {
        let ended = Monitor<Reload?>(nil)
        let isAccepted = files.submit {
            let problem = reload()
            ended.change { $0 = Reload(problem: problem) }
        }
        guard isAccepted else { return "earlier reloads are still in progress: does a file system hang?" }
        guard let result = ended.wait(until: monotonicTime() + .seconds(10), { $0 }) else {
            return "the files have not been read after 10 s: does a file system hang?"
        }
        return result.problem
    }

    private struct Reload {
        var problem: String?
    }

    /// Runs until SIGTERM or SIGINT; then takes everything down in reverse: listening sockets, feeds, storage.
    ///
    /// - Returns: the exit status.
    func run() throws -> Int32 {
        let demoThread = try demo.map { try ServiceThread(name: "demo-feed", body: $0.run) }
        let storageThread = try storage.map {
            // SQLite takes some 4 KiB of stack for each symbolic link on the way to the file, and follows a hundred.
            try ServiceThread(name: "storage", stackBytes: 4 << 20, body: $0.run)
        }
        try feeds.start()
        for address in server.addresses {
            logger.info("Listening on", metadata: ["address": "\(address)", "tls": "\(webWatcher.initial.tls != nil)"])
        }
        let notify = NotifySocket()
        _ = notify?.send("READY=1")
        supervise(notify: notify)
        _ = notify?.send("STOPPING=1")
        let isServerStopped = server.stop(within: .seconds(5))
        feeds.stop()
        demo?.stop()
        demoThread?.join()
        // Last, so that the file gets the last readings.
        storage?.file.stop()
        storageThread?.join()
        logger.info("Stopped")
        // Destructors could take away what a connection's thread still uses, such as one that checks a password.
        if !isServerStopped {
            LogWriter.standardError.flush()
            endProcess(status: 0)
        }
        return 0
    }

    /// Handles timers and signals until one ends the process, on the calling thread. Each turn takes the store's lock,
    /// so that the watchdog is fed only while nobody holds it for good.
    private func supervise(notify: NotifySocket?) {
        var clock = ClockWatch(wall: currentTime(), monotonic: monotonicTime())
        while true {
            let now = monotonicTime()
            let wall = currentTime()
            if let step = clock.step(wall: wall, monotonic: now) {
                logger.debug("Clock was set", metadata: ["milliseconds": "\(step.size)"])
                store.moveArrivals(at: wall, by: step.size, elapsed: step.elapsed)
            }
            let expired = store.expire(at: wall)
            if expired > 0 { logger.debug("Cities expired", metadata: ["count": "\(expired)"]) }
            store.closeWindows(at: wall)
            // A connected listener of `/events` counts as a constant reader.
            let isHeard = events.listenerCount > 0
            switch isHeard ? usage.read(at: now) : usage.tick(at: now) {
            case .pause: feeds.pause()
            case .resume: feeds.resume()
            case nil: break
            }
            demo?.tick(at: now)
            events.tick(at: now)
            webWatcher.poll(at: now)
            if notify?.watchdogInterval != nil { _ = notify?.send("WATCHDOG=1") }
            switch signals.wait(for: waitTime(now, wall, notify)) {
            case .terminate, .interrupt:
                logger.info("Received signal, shutting down")
                return
            case .hangUp:
                if !files.submit({ [reload] in _ = reload() }) {
                    logger.error("Reload skipped: the previous one is still in progress")
                }
            case nil: continue
            }
        }
    }

    /// The time until the next timer.
    private func waitTime(_ now: Duration, _ wall: Timestamp, _ notify: NotifySocket?) -> Duration {
        var times = [Self.longestWait]
        let rules = store.rules
        // A city is dropped at most a second late, and with a short expiry at most that expiry late.
        if rules.expireAfter > 0 { times.append(.milliseconds(min(1000, rules.expireAfter))) }
        if rules.history.usesWindows {
            times.append(.milliseconds(rules.history.interval - wall % rules.history.interval))
        }
        // A changed file is in force at most a second later.
        if webWatcher.hasFile { times.append(.seconds(1)) }
        for case let next? in [usage.nextTickAt, demo?.nextTickAt, events.nextTickAt] {
            times.append(max(.milliseconds(1), next - now))
        }
        if let watchdog = notify?.watchdogInterval { times.append(watchdog / 2) }
        return times.min() ?? Self.longestWait
    }

    private static let longestWait = Duration.seconds(5)
}

/// Results of the last reloads, for `/metrics`; the start counts as one, and so does an automatic one.
final class LastReload: Sendable {
    enum Part { case feeds, web }

    struct State: Equatable {
        /// Parts whose files were bad when they were last read.
        var failed: Set<Part> = []
        var succeededAt: Timestamp
    }

    private let state: Mutex<State>

    init(at time: Timestamp) { state = Mutex(State(succeededAt: time)) }

    var current: State { state.withLock { $0 } }

    static let families: [Family<State>] = [
        Family(
            "airquality_exporter_config_last_reload_successful", .gauge,
            "Whether the last reload of configuration files succeeded."
        ) { $0.failed.isEmpty ? 1 : 0 },
        Family(
            "airquality_exporter_config_last_reload_success_timestamp_seconds", .gauge,
            "When the configuration files were last loaded, in seconds since the Unix epoch."
        ) { Double($0.succeededAt) / 1000 },
    ]

    /// - Parameter results: of each part that was read again, whether it is in force.
    func record(_ results: [Part: Bool], at time: Timestamp) {
        state.withLock { state in
            for (part, isSuccessful) in results {
                if isSuccessful { state.failed.remove(part) } else { state.failed.insert(part) }
            }
            if state.failed.isEmpty { state.succeededAt = time }
        }
    }
}

extension Configuration {
    /// Whether there is nothing that a reload could read.
    fileprivate var namesNoFile: Bool {
        [feedFile, web.configFile, feed.headerFile, feed.tls.caFile, feed.tls.certificateFile, feed.tls.keyFile]
            .allSatisfy { $0 == nil }
    }
}

extension StoreRules {
    /// - Parameter feeds: those of the start. A reload may bring others that have what these do not.
    init(_ configuration: Configuration, feeds: [ConfiguredFeed]) {
        let demo = configuration.isDemo ? [DemoFeed.format] : []
        let formats = [configuration.format] + feeds.map(\.settings.format) + demo
        let families = Set(formats.flatMap(\.families))
        self.init(
            scale: configuration.scale, history: configuration.history,
            cityLimit: configuration.cityLimit, expireAfter: configuration.expireAfter.milliseconds,
            shard: configuration.format.shard,
            families: configuration.feedFile == nil ? families : Set(CityFamilyName.allCases))
    }
}

/// Whether anybody still reads what the feeds bring, for `--feed.pause-when-unused`.
final class FeedUsage: Sendable {
    private let state: Mutex<State>
    private let limit: Duration

    private struct State {
        var lastReadAt: Duration
        var isPaused = false
    }

    enum Change: Equatable { case pause, resume }

    /// - Parameter limit: how long nobody may read before feeds are paused; zero: no limit.
    init(limit: Duration, at now: Duration) {
        self.limit = limit
        state = Mutex(State(lastReadAt: now))
    }

    /// Somebody has read.
    func read(at now: @autoclosure () -> Duration) -> Change? {
        guard limit > .zero else { return nil }
        let now = now()
        return state.withLock { state in
            state.lastReadAt = now
            guard state.isPaused else { return nil }
            state.isPaused = false
            return .resume
        }
    }

    /// Time has passed.
    func tick(at now: Duration) -> Change? {
        guard limit > .zero else { return nil }
        return state.withLock { state in
            guard !state.isPaused, now - state.lastReadAt >= limit else { return nil }
            state.isPaused = true
            return .pause
        }
    }

    /// When ``tick(at:)`` may have something to say.
    var nextTickAt: Duration? {
        guard limit > .zero else { return nil }
        return state.withLock { $0.isPaused ? nil : $0.lastReadAt + limit }
    }
}
