import AirSources
import Bytes
import HTTPClient
import HTTPText
import JQ
import JSON
import System

/// The loop of `poll`, on the main thread. It follows the plan, sends changes, and repeats all values every 30 seconds,
/// even during a request, because clients take silence for a lost feed.
final class Poller {
    private static let repetition: Duration = .seconds(30)

    private var source: PolledSource
    private let server: FeedServer
    private let state: Monitor<PollState>
    private let log: Logger
    /// The last logged error of the jq program.
    private var programError: String?
    private var repeatAt = monotonicTime() + repetition

    init(_ source: consuming PolledSource, _ server: FeedServer, _ state: Monitor<PollState>, _ log: Logger) {
        self.source = source
        self.server = server
        self.state = state
        self.log = log
    }

    /// Blocks until a signal ends the program.
    func run() {
        while true {
            state.change { $0.figures = source.plan.figures(at: currentTime()) }
            switch source.plan.next(at: currentTime()) {
            case .wait(let time):
                // At most a minute, because the clock may be set meanwhile.
                let delay = min(max(time - currentTime(), 1), 60_000)
                guard wait(until: monotonicTime() + .milliseconds(delay)) else { return }
            case .ask(let query):
                guard let result = ask(query) else { return }
                take(source.plan.take(result, at: currentTime()))
            }
        }
    }

    /// Waits, and repeats all values when due; `false` if a signal ends the program.
    private func wait(until deadline: Duration) -> Bool {
        repeat {
            if monotonicTime() >= repeatAt {
                for message in state.read({ $0.latest.all(at: monotonicTime()) }) { server.send(message) }
                repeatAt = monotonicTime() + Self.repetition
            }
            guard server.wait(until: min(deadline, repeatAt)) else { return false }
        } while monotonicTime() < deadline
        return true
    }

    /// - Returns: `nil` if a signal ends the program meanwhile.
    private func ask(_ query: SourceQuery) -> Result<HTTPClientResponse, SystemError>? {
        do throws(SystemError) {
            let url = source.baseURL + query.path
            let response = try source.http.get(url, headers: query.headers) { self.wait(until: monotonicTime()) }
            return response.map { .success($0) }
        } catch {
            return .failure(error)
        }
    }

    private func take(_ report: PollPlan.Report) {
        for line in report.log { say(line, source.plan.problem == nil ? .info : .warning) }
        send(report.news.map { ($0.city, $0.air.element(of: source.cities[$0.city])) })
        guard let document = report.document else { return }
        do throws(SystemError) {
            let elements = try elements(of: document)
            // An error message in place of the data must not remove known values.
            if elements.count <= 2, let message = errorMessage(in: document) {
                throw SystemError(.content, "--jq: it selects nothing; the response says \(quoted(message))")
            }
            // The entry is the array without its brackets.
            send([(0, Array(elements.dropFirst().dropLast()))])
            programError = nil
        } catch {
            source.plan.countUnreadable()
            if programError != error.reason { say(error.reason, .warning) }
            programError = error.reason
        }
    }

    /// Returns what the jq program extracts from a response, as a JSON array; empty if nothing.
    private func elements(of document: [UInt8]) throws(SystemError) -> [UInt8] {
        var reader = JSONReader()
        let content = reader.content(of: document.span)
        reader.forget()
        let isText = content == .text
        do throws(SystemError) {
            switch content {
            case .blank: throw SystemError(.peer, "it is empty")
            case .invalidUTF8: throw SystemError(.peer, "it is not UTF-8")
            case .json(_, let replacement):
                let text = replacement ?? document
                return try source.program?.elements(0, of: text.span, as: .json) ?? []
            case .text: return try source.program?.elements(0, of: document.span, as: .string) ?? []
            }
        } catch {
            let isUnreadable = isText || error.code == .peer
            let subject = isUnreadable ? "json sent a response that is not JSON" : "--jq"
            throw SystemError(error.code, "\(subject): \(error)")
        }
    }

    private func send(_ news: [(city: Int, elements: [UInt8])]) {
        for message in state.change({ $0.latest.update(news, at: monotonicTime()) }) { server.send(message) }
    }

    private func say(_ line: String, _ level: Logger.Level) {
        log.log(level: level, onOneLine(source.secrets.reduce(line) { masked($0, secret: $1) }))
    }
}
