import AirQuality
import CommandLine
import HTTPServer
import Storage
import System
import WebConfiguration

/// The object graph, and its life from start to stop.
final class Exporter: Sendable {
    let configuration: Configuration
    private let logger: Logger
    let store: ReadingStore
    let feeds: FeedSet
    private let demo: DemoFeed?
    let storage: StorageFile?
    let events: EventHub
    let web: WebConfigurationWatcher
    let reloader: Reloader
    let handshakes: HandshakeFailures

    /// Creates the parts, and opens the storage and web configuration files. `flags` name the source of errors.
    init(
        _ configuration: Configuration, feeds configuredFeeds: [ConfiguredFeed], flags: ParsedFlags, logger: Logger
    ) throws {
        self.configuration = configuration
        self.logger = logger
        demo = configuration.isDemo ? try DemoFeed() : nil
        store = ReadingStore(rules: configuration.storeRules, feeds: [], at: currentTime())
        storage = try configuration.storageFile.map { [store] path in
            try flags.using(
                "storage.file", expected: "a usable storage file",
                try StorageFile(path, store: store, now: currentTime))
        }
        storage?.outcome.log(to: logger, path: configuration.storageFile)
        feeds = FeedSet(configuration, feeds: configuredFeeds, demo: demo?.address, store: store, logger: logger)
        events = EventHub(store: store, at: currentTime())
        web = try flags.using(
            "web.config.file", expected: "a valid web configuration",
            try WebConfigurationWatcher(path: configuration.web.configFile, logger: logger))
        reloader = Reloader(configuration, feeds: feeds, web: web, logger: logger, at: currentTime())
        handshakes = HandshakeFailures(logger: logger)
    }

    /// Opens the listening sockets and serves `/metrics` from then on. ``run(_:signals:)`` connects to the feeds.
    func listen() throws -> HTTPServer {
        var settings = HTTPServerConfiguration(addresses: configuration.web.listenAddresses, routes: routes())
        settings.usesSystemdSockets = configuration.web.usesSystemdSockets
        settings.access = web.initial.access
        settings.notFound = "not found; see /about for all paths"
        settings.onTLSHandshakeFailure = { [handshakes] in handshakes.note(client: $0, reason: $1) }
        do throws(SystemError) {
            let server = try HTTPServer(configuration: settings)
            web.follow(server)
            return server
        } catch {
            guard error.code == .address else { throw error }
            let noSocket = "--web.systemd-socket: expected a socket unit that starts this service: \(error.reason)"
            let advice = "use a free address of this machine that you have permission to bind, such as :10026"
            let notFree = "--web.listen-address: \(error.reason); \(advice)"
            throw SystemError(.address, settings.usesSystemdSockets ? noSocket : notFree)
        }
    }

    /// Runs until SIGTERM or SIGINT, then closes listening sockets, feeds and storage. Returns the exit status.
    func run(_ server: HTTPServer, signals: Signals) throws -> Int32 {
        let demoThread = try demo.map { try ServiceThread(name: "demo-feed", body: $0.run) }
        let storageThread = try storage.map { file in
            // SQLite needs about 4 KiB of stack per symbolic link on the way to the file, and follows up to a hundred.
            try ServiceThread(name: "storage", stackBytes: 4 << 20) { [logger, path = configuration.storageFile] in
                file.run { $0.log(to: logger, path: path) }
            }
        }
        do {
            try feeds.start()
        } catch {
            storage?.stop()
            storageThread?.join()
            throw error
        }
        for address in server.addresses {
            logger.info("Listening on", metadata: ["address": "\(address)", "tls": "\(web.initial.tls != nil)"])
        }
        let notify = NotifySocket()
        notify?.send("READY=1")
        supervise(signals, notify: notify)
        notify?.send("STOPPING=1")
        let isServerStopped = server.stop(within: .seconds(5))
        feeds.stop()
        demo?.stop()
        demoThread?.join()
        // Last, so that the file gets the last readings.
        store.closeWindows(at: currentTime())
        storage?.stop()
        storageThread?.join()
        logger.info("Stopped")
        // Destructors could free what a connection's thread still uses, for example while it checks a password.
        if !isServerStopped {
            LogWriter.standardError.flush()
            endProcess(status: 0)
        }
        return 0
    }

    /// Handles timers and signals on the calling thread until one ends the process. Each turn takes the store's lock,
    /// so that the watchdog is fed only while the store is not deadlocked.
    private func supervise(_ signals: Signals, notify: NotifySocket?) {
        var clock = ClockWatch(wall: currentTime(), monotonic: monotonicTime())
        var nextCheckAt = monotonicTime()
        while true {
            let now = monotonicTime()
            let wall = currentTime()
            if let step = clock.step(wall: wall, monotonic: now) {
                logger.info("Clock was set", metadata: ["milliseconds": "\(step.size)"])
                store.moveArrivals(at: wall, by: step.size, elapsed: step.elapsed)
            }
            let expired = store.expire(at: wall)
            if expired > 0 { logger.debug("Cities expired", metadata: ["count": "\(expired)"]) }
            store.closeWindows(at: wall)
            feeds.pauseIfUnused(at: now)
            events.tick(at: now)
            if web.path != nil, now >= nextCheckAt {
                reloader.checkWebConfiguration()
                nextCheckAt = now + .seconds(1)
            }
            let watchdogTime = notify?.feedWatchdog() ?? .seconds(1)
            switch signals.wait(for: min(waitTime(wall), watchdogTime)) {
            case .terminate:
                logger.info("Received signal, shutting down")
                return
            case .hangUp: reloader.reloadSoon()
            case nil: continue
            }
        }
    }

    /// Returns the time until the next timer: a second, or less at the end of a history window.
    private func waitTime(_ wall: Timestamp) -> Duration {
        let rule = store.rules.history
        let milliseconds = rule.usesWindows ? rule.interval - wall % rule.interval : 1000
        return .milliseconds(min(1000, milliseconds))
    }
}
