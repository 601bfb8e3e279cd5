import AirSources
import Bytes
import HTTPClient
import HTTPText
import System

/// The schedule of requests and the handling of responses, without clock or socket. Times are epoch milliseconds.
///
/// A round requests the cities whose newest value is not from the current hour, oldest first. The first round begins at
/// once, later ones at multiples of the interval plus jitter of up to a tenth of it, at most a minute. A failed request
/// is retried at the end of its round's queue, with back-off and full jitter bounded by the interval. Once another
/// request of the round has succeeded, it gets at most four attempts, none of which delays the next round.
struct PollPlan {
    enum Step {
        case ask(SourceQuery)
        case wait(until: Int64)
    }

    struct Report {
        /// Current air of the cities in the response, changed or not.
        var news: [(city: Int, air: CityAir)] = []
        var log: [String] = []
        /// The body, if a jq program reads it.
        var document: [UInt8]?
    }

    private static let maximumRetryAfter: Int64 = 3_600_000
    private static let maximumJitter: Int64 = 60_000
    private static let maximumAttempts = 4
    /// Maximum pause in milliseconds after the rate limit was exceeded, if the source does not say how long to wait.
    private static let busyPause: Int64 = 60_000

    private let source: DataSource
    private var cities: KnownCities
    private let keyOrigin: String?
    private let interval: Int64
    private let random: @Sendable () -> Double
    private var api: any AirSource
    private var budget: TokenBucket

    private var queue: [(query: SourceQuery, attempts: Int)] = []
    private var nextRoundAt: Int64 = 0
    private var hasRoundSucceeded = false
    /// Whether a request of the round was given up.
    private var isRoundIncomplete = false
    private var pausedUntil: Int64 = 0
    /// Length of the pause in milliseconds, as of its start.
    private var pauseLength: Int64 = 0
    private var failures = 0
    /// The kind of the last problem logged; `nil` after recovery.
    private(set) var problem: PollFigures.Failure?
    private var figures = PollFigures()

    /// Creates a plan with an interval of at least one second; `random` returns a number in 0..<1.
    init(
        source: DataSource, api: any AirSource, cities: [PolledCity], keyOrigin: String? = nil, rate: CallRate,
        interval: Duration, random: @escaping @Sendable () -> Double
    ) {
        self.source = source
        self.api = api
        self.cities = KnownCities(cities)
        self.keyOrigin = keyOrigin
        self.interval = interval.milliseconds
        self.random = random
        budget = TokenBucket(rate.calls, each: rate.period / rate.calls)
    }

    func figures(at now: Int64) -> PollFigures {
        var figures = figures
        figures.callsLeft = budget.count(at: .milliseconds(now))
        figures.cities = cities.count
        figures.citiesWithAir = cities.countWithAir
        figures.newestObservation = cities.newestObservation
        return figures
    }

    // MARK: Requests

    mutating func next(at now: Int64) -> Step {
        // If the clock was set back, the wait is at most a whole pause, or a whole interval with its jitter.
        pausedUntil = min(pausedUntil, now + pauseLength)
        if nextRoundAt > now + interval + Self.maximumJitter { nextRoundAt = now }
        if now < pausedUntil { return .wait(until: pausedUntil) }
        // A round ends when all queries are answered or given up, or when all have failed.
        let hasFailed = !hasRoundSucceeded && queue.allSatisfy { $0.attempts > 0 }
        if now >= nextRoundAt, queue.isEmpty || hasFailed { beginRound(at: now) }
        guard let query = queue.first?.query else { return .wait(until: nextRoundAt) }
        let delay = budget.delay(for: query.cost, at: .milliseconds(now))
        guard delay == .zero else { return .wait(until: now + Int64(delay.pollMilliseconds)) }
        budget.spend(query.cost, at: .milliseconds(now))
        figures.requests += 1
        return .ask(query)
    }

    private mutating func beginRound(at now: Int64) {
        let jitter = Int64(random() * Double(min(interval / 10, Self.maximumJitter)))
        nextRoundAt = (now / interval + 1) * interval + jitter
        queue = api.queries(for: cities.due(at: now), at: now / 1000).map { ($0, 0) }
        hasRoundSucceeded = false
        isRoundIncomplete = false
    }

    // MARK: Responses

    /// Handles the response to the query that `next` returned last.
    mutating func take(_ result: Result<HTTPClientResponse, SystemError>, at now: Int64) -> Report {
        var report = Report()
        let (query, attempts) = queue.removeFirst()
        switch result {
        case .success(let response): take(response, of: query, attempts + 1, at: now, &report)
        case .failure(let error):
            retry(query, attempts + 1, .unreachable, "cannot be reached (\(error))", at: now, &report)
        }
        guard queue.isEmpty else { return report }
        // After a round without success the problem concerns the source, not single cities.
        if hasRoundSucceeded { report.log += cities.takeLines(at: now) }
        if !isRoundIncomplete, problem != nil {
            problem = nil
            report.log.append("\(source.name) responds again")
        }
        return report
    }

    private mutating func take(
        _ response: HTTPClientResponse, of query: SourceQuery, _ attempts: Int, at now: Int64, _ report: inout Report
    ) {
        func time(_ field: String) -> Int64? {
            response.headers.first(field).flatMap { parseRetryAfter($0, now: now) }
                .map { now + min($0.milliseconds, Self.maximumRetryAfter) }
        }
        let retryAfter = time("Retry-After")
        // Many servers send `x-ratelimit-reset` with every response, so it sets a pause only if no calls are left.
        let moreCallsAt = retryAfter ?? time("x-ratelimit-reset")
        do throws(SourceError) {
            try checkStatus(of: response)
            let content = try api.read(response.body, of: query, at: now / 1000)
            failures = 0
            hasRoundSucceeded = true
            report.document = content.document
            note(content, &report)
            if response.headers.first("x-ratelimit-remaining") == "0" { pause(until: moreCallsAt, at: now) }
        } catch {
            pause(until: retryAfter, at: now)
            switch error {
            case .refused(let text):
                // Ends the round.
                queue = []
                isRoundIncomplete = true
                let origin = keyOrigin.map { " (the key is from \($0))" } ?? ""
                complain(.refused, "rejected the request: \(text)\(origin); trying again at the next interval", &report)
            case .busy(let text):
                pause(until: moreCallsAt ?? now + min(Self.busyPause, interval), at: now)
                retry(query, attempts, .busy, "is rate-limiting: \(text)", at: now, &report)
            case .failed(let text):
                retry(query, attempts, .status, "reports a server error: \(text)", at: now, &report)
            case .missing(let text):
                complain(.status, "has no data for \(query.subject): \(text)", &report)
                giveUp(query, at: now, &report)
            case .unreadable(let text):
                let words = explanation(in: response.body).map { "; its message: \(quoted($0))" } ?? ""
                let line = "sent an unexpected response for \(query.subject): \(text)\(words)"
                retry(query, attempts, .unreadable, line, at: now, &report)
            }
        }
    }

    private func checkStatus(of response: HTTPClientResponse) throws(SourceError) {
        if response.status == 200 { return }
        let reason = explanation(in: response.body)
        let text = "status \(response.status)" + (reason.map { ": \($0)" } ?? "")
        switch response.status {
        case 401, 403: throw .refused(text)
        case 429: throw .busy(text)
        case 408, 425, 500...: throw .failed(text)
        default:
            // Open-Meteo rejects a key with status 400.
            if keyOrigin != nil, let reason, case .refused = SourceError(vendorMessage: reason) { throw .refused(text) }
            let target = response.headers.first("Location").map { ", which redirects to \(masked(address: $0))" } ?? ""
            throw .missing(text + target)
        }
    }

    private mutating func giveUp(_ query: SourceQuery, at now: Int64, _ report: inout Report) {
        isRoundIncomplete = true
        note(api.giveUp(query, at: now / 1000), &report)
    }

    private mutating func note(_ response: SourceResponse, _ report: inout Report) {
        queue.insert(contentsOf: response.queries.map { ($0, 0) }, at: 0)
        report.news += cities.take(response)
    }

    // MARK: Problems

    /// Counts a response on which the jq program failed.
    mutating func countUnreadable() { figures.failures[.unreadable, default: 0] += 1 }

    /// Requeues the query after the others. If others of the round have succeeded, gives it up after `maximumAttempts`,
    /// or when the next round is due before its turn.
    private mutating func retry(
        _ query: SourceQuery, _ attempts: Int, _ failure: PollFigures.Failure, _ line: String, at now: Int64,
        _ report: inout Report
    ) {
        let bound = min(1000 << min(failures, 20), interval)
        failures += 1
        pause(until: now + Int64(random() * Double(bound)), at: now)
        complain(failure, line + "; trying again", &report)
        let hasTime = attempts < Self.maximumAttempts && max(now, pausedUntil) < nextRoundAt
        if hasTime || !hasRoundSucceeded {
            queue.append((query, attempts))
        } else {
            giveUp(query, at: now, &report)
        }
    }

    /// Counts a problem, and logs it unless the last one was of the same kind.
    private mutating func complain(_ failure: PollFigures.Failure, _ line: String, _ report: inout Report) {
        figures.failures[failure, default: 0] += 1
        guard problem != failure else { return }
        problem = failure
        report.log.append("\(source.name) \(line)")
    }

    private mutating func pause(until time: Int64?, at now: Int64) {
        guard let time, time > pausedUntil else { return }
        pausedUntil = time
        pauseLength = time - now
    }
}
