import AirSources
import Bytes
import CommandLine
import HTTPClient
import JQ
import System

/// The loop of `poll`: follows the plan, and sends what is new.
struct Poller: ~Copyable {
    private let configuration: PollConfiguration
    private let server: FeedServer
    private let latest: LatestAir
    private let pulse: PollPulse
    private let http: HTTPClient
    private var plan: PollPlan
    private var program: JQProgram?
    private var progress: FillProgress
    /// Error of the jq program that was logged last.
    private var programError: String?

    init(
        _ configuration: PollConfiguration, _ program: consuming JQProgram?, _ server: FeedServer, _ latest: LatestAir,
        _ pulse: PollPulse
    ) throws {
        let options = configuration.options
        var client = HTTPClientConfiguration(
            userAgent: "air-quality-exporter/\(BuildVersion.version) (\(Program.feed.name) poll)")
        client.timeout = options.timeout
        // Twice the longest real document: a source's response costs some twenty times its size while it is read.
        client.maximumBodyBytes = 4 << 20
        client.authorities = configuration.authorities
        http = try HTTPClient(client)
        self.program = program
        plan = PollPlan(
            source: options.source,
            api: configuration.source(),
            baseURL: configuration.baseURL, cities: configuration.cities, keyOrigin: configuration.key?.origin,
            rate: configuration.rate, interval: options.interval, random: randomUnit)
        progress = FillProgress(total: configuration.cities.count)
        self.configuration = configuration
        self.server = server
        self.latest = latest
        self.pulse = pulse
    }

    /// Blocks until a signal ends the program.
    mutating func run() {
        while true {
            pulse.set(plan.figures(at: currentTime()))
            switch plan.next(at: currentTime()) {
            case .wait(let time):
                // At most a minute: the clock may be set.
                let delay = min(max(time - currentTime(), 1), 60_000)
                guard pulse.beat(until: monotonicTime() + .milliseconds(delay)) else { return }
            case .ask(let request):
                guard let result = ask(request) else { return }
                take(plan.take(result, at: currentTime()))
            }
        }
    }

    /// - Returns: `nil` when a signal has ended the program meanwhile.
    private func ask(_ request: HTTPClientRequest) -> Result<HTTPClientResponse, HTTPFailure>? {
        do throws(HTTPFailure) {
            return .success(try http.get(request) { [pulse] in pulse.beat(until: monotonicTime()) })
        } catch {
            return error.reason == .cancelled ? nil : .failure(error)
        }
    }

    private mutating func take(_ report: PollPlan.Report) {
        progress.clear()
        for line in report.log { say(line, level: plan.hasProblem ? .warning : .info) }
        progress.show(plan.settledCount)
        latest.confirm(report.unchanged, at: monotonicTime())
        for message in latest.update(report.news, at: monotonicTime()) { server.send(message) }
        if let document = report.document { take(document) }
    }

    private mutating func take(_ document: [UInt8]) {
        do throws(JQError) {
            guard let elements = try program?.run(document.span) else { return }
            programError = nil
            server.send(latest.update(elements: elements.isEmpty ? Array("[]".utf8) : elements, at: monotonicTime()))
        } catch {
            if programError != error.reason { say("--jq: \(error)", level: .warning) }
            programError = error.reason
        }
    }

    private func say(_ line: String, level: Logger.Level) {
        log(onOneLine(masked(line, key: configuration.key?.text)), level: level)
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
