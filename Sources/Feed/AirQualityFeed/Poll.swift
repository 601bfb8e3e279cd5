import AirQuality
import AirSources
import Bytes
import CommandLine
import Exposition
import HTTPClient
import HTTPText
import Synchronization
import System
import WebSocket

/// Asks an HTTP source for real air and serves it as a feed until a signal comes.
func poll(_ flags: ParsedFlags, signals: Signals) throws {
    /// Clients disconnect when nothing has come for a minute.
    let heartbeat: Duration = .seconds(30)
    let configuration = try PollConfiguration(flags)
    beginLog(of: flags, level: configuration.options.logLevel, format: configuration.options.logFormat)
    let figures = Mutex(PollFigures())
    let loop = Heartbeat(of: "the main loop", limit: .seconds(60))
    // A wait takes a minute at most.
    let asking = Heartbeat(of: "the poller", limit: configuration.options.timeout + .seconds(120))
    let latest = LatestAir(configuration.cities)
    let server = try FeedServer(configuration.options.listen, signals: signals) {
        $0.headers = [HTTPField(name: FeedSource.fieldName, value: configuration.options.source.headerValue)]
        $0.greeting = { _ in latest.all() }
    }
    defer { server.stop() }
    let cancellation = try HTTPCancellation()
    // Set by the poll thread when it fails; it then wakes this thread.
    let failure = Mutex<HTTPFailure?>(nil)
    let thread = try ServiceThread(name: "poll", stackBytes: 4 << 20) {
        do throws(HTTPFailure) {
            try askIndefinitely(configuration, cancellation: cancellation) { news, newFigures in
                asking.beat()
                figures.withLock { $0 = newFigures }
                guard !news.isEmpty else { return }
                latest.update(news)
                signals.wake()
            }
        } catch {
            failure.withLock { $0 = error }
            signals.wake()
        }
    }
    defer {
        cancellation.cancel()
        thread.join()
    }
    let stopStatus = try serveStatus(
        on: configuration.options.webListenAddresses,
        metrics: { format in
            var figures = figures.withLock(\.self)
            figures.clients = server.clientCount
            return format.exposition(PollFigures.families, of: figures)
        },
        healthProblem: { loop.problem ?? asking.problem },
        readinessProblem: { figures.withLock { $0.newestObservation == nil } ? "no city has data yet" : nil })
    defer { stopStatus() }
    var nextHeartbeat = monotonicTime() + heartbeat
    while server.wait(until: nextHeartbeat, orUntil: { latest.hasChanges || failure.withLock { $0 != nil } }) {
        loop.beat()
        if let failure = failure.withLock(\.self) { throw failure }
        let news = latest.takeChanges()
        // What did not change is said again, or clients would take the silence for a lost feed.
        let isHeartbeat = monotonicTime() >= nextHeartbeat
        for message in isHeartbeat ? latest.all() : news { server.send(message) }
        if isHeartbeat { nextHeartbeat = monotonicTime() + heartbeat }
    }
}

/// Follows the plan until it is cancelled.
/// - Parameter post: told of what is new, at each step.
private func askIndefinitely(
    _ configuration: PollConfiguration, cancellation: HTTPCancellation,
    post: ([(city: Int, air: CityAir)], PollFigures) -> Void
) throws(HTTPFailure) {
    var client = HTTPClientConfiguration(
        userAgent: "air-quality-exporter/\(BuildVersion.version) (\(Program.feed.name) poll)")
    client.timeout = configuration.options.timeout
    // Twice the longest real document: a source's response costs some twenty times its size while it is read.
    client.maximumBodyBytes = 4 << 20
    client.authorities = configuration.authorities
    let http = try HTTPClient(client, cancellation: cancellation)
    var plan = PollPlan(
        source: configuration.options.source,
        api: configuration.options.source.source(
            cities: configuration.cities, scale: configuration.scale, key: configuration.key?.text,
            maximumCost: configuration.rate.calls),
        baseURL: configuration.baseURL, cities: configuration.cities, keyOrigin: configuration.key?.origin,
        rate: configuration.rate, interval: configuration.options.interval, random: randomUnit)
    var progress = FillProgress(total: configuration.cities.count)
    while !cancellation.isCancelled {
        post([], plan.figures(at: currentTime()))
        switch plan.next(at: currentTime()) {
        case .wait(let time):
            // At most a minute: the clock may be set.
            let delay = min(max(time - currentTime(), 1), 60_000)
            guard cancellation.wait(for: .milliseconds(delay)) else { return }
        case .ask(let request):
            let result: Result<HTTPResponse, HTTPFailure>
            do throws(HTTPFailure) {
                result = .success(try http.get(request))
            } catch {
                if error.reason == .cancelled { return }
                result = .failure(error)
            }
            let report = plan.take(result, at: currentTime())
            progress.clear()
            for line in report.log {
                log(onOneLine(masked(line, key: configuration.key?.text)), level: plan.hasProblem ? .warning : .info)
            }
            progress.show(plan.settledCount)
            post(report.news, plan.figures(at: currentTime()))
        }
    }
}

/// `42/300 cities` on a terminal, while the cities are asked for the first time.
private struct FillProgress {
    let total: Int
    let isTerminal = StandardStream.error.isTerminal
    var isShown = false

    mutating func show(_ count: Int) {
        guard isTerminal, count < total else { return }
        StandardStream.error.write("\(count)/\(total) cities")
        isShown = true
    }

    mutating func clear() {
        guard isShown else { return }
        // Back to the beginning of the line, and all of it away.
        StandardStream.error.write("\r\u{1B}[K")
        isShown = false
    }
}

/// The figures of `poll` on `/metrics`.
struct PollFigures {
    /// The reason why a request gave nothing.
    enum Failure: String, CaseIterable { case unreachable, refused, busy, unreadable, status }

    var requests: UInt64 = 0
    var failures: [Failure: UInt64] = [:]
    var spikes: UInt64 = 0
    var callsLeft = 0
    var cities = 0
    var citiesWithAir = 0
    /// Seconds since the Unix epoch.
    var newestObservation: Int64?
    var clients = 0

    static let families: [Family<PollFigures>] = [
        Family("airquality_feed_requests_total", .counter, "Requests sent to the source.") {
            Double($0.requests)
        },
        Family(
            "airquality_feed_request_failures_total", .counter, labels: ["reason"],
            "Requests that returned no data, by reason."
        ) { figures, add in
            for failure in Failure.allCases {
                add([LabelValue(failure.rawValue)], .number(Double(figures.failures[failure] ?? 0)))
            }
        },
        Family("airquality_feed_calls_left", .gauge, "Calls that --rate allows now.") { Double($0.callsLeft) },
        Family("airquality_feed_cities", .gauge, "Cities requested.") { Double($0.cities) },
        Family("airquality_feed_cities_with_air", .gauge, "Cities whose last response had an index.") {
            Double($0.citiesWithAir)
        },
        Family("airquality_feed_newest_observation_timestamp_seconds", .gauge, "Time of the newest observation.") {
            $0.newestObservation.map { Double($0) }
        },
        Family(
            "airquality_feed_spikes_total", .counter,
            "Hourly values left out because their neighbours contradict them."
        ) { Double($0.spikes) },
        clientsFamily { $0.clients },
    ]
}

func clientsFamily<Source>(_ count: @escaping @Sendable (Source) -> Int) -> Family<Source> {
    Family("airquality_feed_clients", .gauge, "WebSocket clients.") { Double(count($0)) }
}
