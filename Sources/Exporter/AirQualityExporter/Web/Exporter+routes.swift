import AirQuality
import Bytes
import HTTPServer
import HTTPText
import Page
import Storage
import System
import WebConfiguration

extension Exporter {
    /// The routes of all paths, with their limits of concurrent requests.
    func routes() -> [Route] {
        let web = configuration.web
        // Exposed from the start, as client libraries do, so that rate() sees the first increase.
        let meter = HTTPMeter(statuses: [200, 500, 503])
        let families = configuration.cityFamilies.isEmpty ? CityFamilyName.allCases : configuration.cityFamilies
        let metrics = MetricsEndpoint(
            store: store, families: families, scrapes: web.omitsExporterMetrics ? nil : meter, figures: figures)
        let scrapes =
            web.maximumRequests == 0
            ? nil
            : RequestLimit(
                web.maximumRequests, perClient: max(1, web.maximumRequests / 4), patience: .milliseconds(500),
                rejection: .busy("too many scrapes at once"))
        let history = HistoryEndpoint(store: store)
        let assets = PageAssets(scale: store.rules.scale)
        let page = PageEndpoint(store: store, assets: assets, web: web)
        // Pages, which take up to a megabyte to render, and histories, which have a lower limit of their own.
        let documents = RequestLimit(
            64, perClient: 16, patience: .milliseconds(500), rejection: .busy("too many requests at once"))
        let listeners = RequestLimit(
            256, perClient: 64,
            rejection: .busy("too many listeners: at most 256, and 64 of one address", retryAfter: 10))

        func route(to path: ExporterPath) -> Route {
            let text = path.rawValue
            switch path {
            case .list:
                return Route(text, limit: documents) { request in
                    page.respond(to: request) { page throws(QueryError) in try page.list(request.query) }
                }
            case .city:
                return Route(text, isFolder: true, limit: documents) { request in
                    // Links to the cities "." and ".." end with a space (`Page.pathStep`).
                    let name = Array(trimmed(request.path.utf8.dropFirst(text.utf8.count)))
                    return page.respond(to: request) { page throws(QueryError) in try page.city(name, request.query) }
                }
            case .about: return Route(text, limit: documents) { page.respond(to: $0) { $0.about() } }
            case .history:
                let origin = web.corsOrigin.map { [("Access-Control-Allow-Origin", $0)] } ?? []
                let headers = HistoryEndpoint.headers + origin
                return Route(text, headers: headers, rejectsInJSON: true, limit: documents) { [self] request in
                    read(history.respond(to: request))
                }
            case .events: return Route(text, limit: listeners, respond: events.respond)
            case .healthy:
                return Route(text, needsPassword: false) { [self] _ in
                    .status(livenessProblem(), is: 503, otherwise: "healthy")
                }
            case .ready:
                return Route(text, needsPassword: false) { [store] _ in
                    let problem = store.snapshot(withHistories: true).readinessProblem(at: currentTime())
                    return .status(problem, is: 503, otherwise: "ready")
                }
            case .reconnect, .reload:
                return Route(text, methods: ["POST"]) { [feeds, reloader] _ in
                    guard web.isLifecycleEnabled else {
                        return HTTPResponse(status: 403, line: "lifecycle requests need --web.enable-lifecycle")
                    }
                    if path == .reload { return .status(reloader.reload(), is: 500, otherwise: "reloaded") }
                    feeds.reconnect(at: monotonicTime())
                    return HTTPResponse(status: 200, line: "reconnecting")
                }
            case .favicon, .assets:
                return Route(text, isFolder: path.isFolder, limit: documents, respond: assets.respond)
            }
        }

        let scrape = Route(web.telemetryPath, limit: scrapes, meter: meter) { [self] request in
            read(metrics.respond(to: request))
        }
        return [scrape] + ExporterPath.allCases.map(route)
    }

    /// Records that something has read the feeds' data, once the response is complete.
    private func read(_ response: HTTPResponse) -> HTTPResponse {
        feeds.noteRead(at: monotonicTime())
        return response
    }

    /// Returns `nil` if the store can be locked within a second, else the problem in one line. Blocks until then.
    private func livenessProblem() -> String? {
        let deadline = monotonicTime() + .seconds(1)
        while !store.isUnlocked {
            guard monotonicTime() < deadline else { return "the store has been locked for more than a second" }
            pauseThread(for: .milliseconds(10))
        }
        return nil
    }

    @Sendable private func figures() -> ExporterFigures {
        ExporterFigures(
            storage: storage?.statistics, reload: reloader.outcome, listeners: events.listenerCount,
            handshakeFailures: web.initial.tls == nil ? nil : handshakes.count,
            droppedLogLines: LogWriter.standardError.droppedLines)
    }
}

extension HTTPResponse {
    /// The response of a health path; the problem is `nil` if all is well.
    fileprivate static func status(_ problem: String?, is status: Int, otherwise fine: String) -> HTTPResponse {
        HTTPResponse(status: problem == nil ? 200 : status, line: problem ?? fine)
    }
}
