import AirQuality
import Synchronization
import Transport

/// The server's counts of scrapes, for the scrapes that it serves: it begins to exist after they can be asked for.
final class ScrapeCounts: Sendable {
    private struct State {
        weak var server: HTTPServer?
    }

    private let state = Mutex(State())

    func follow(_ server: HTTPServer) {
        state.withLock { $0.server = server }
    }

    var report: ExporterReport.Handler {
        let statistics = state.withLock { $0.server }?.statistics ?? HTTPStatistics()
        // Client libraries have these from the start, so that rate() sees the first one.
        let codes = Set([200, 500, 503]).union(statistics.answers.keys).sorted()
        return ExporterReport.Handler(
            inFlight: statistics.requestsInFlight,
            requests: codes.map { ($0, UInt64(statistics.answers[$0] ?? 0)) })
    }
}
