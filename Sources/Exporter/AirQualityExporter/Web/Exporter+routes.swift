import AirQuality
import Bytes
import Exposition
import HTTPServer
import HTTPText
import Page
import Storage
import System
import WebConfiguration

extension Exporter {
    /// The routes of all paths, with their limits of concurrent requests.
    func routes() -> [Route] {
        // Pages, which take up to a megabyte to render, and histories, which have a lower limit of their own.
        let documents = RequestLimit(
            HTTPLimits.documents, perClient: HTTPLimits.documentsPerClient, waiting: HTTPLimits.documents,
            patience: HTTPLimits.patience, eviction: .slowestReader, rejection: .busy("too many requests at once"))
        return [scrapeRoute(), historyRoute(limit: documents), eventsRoute()]
            + pageRoutes(limit: documents) + healthRoutes() + lifecycleRoutes()
    }

    private func scrapeRoute() -> Route {
        let web = configuration.web
        // Exposed from the start, as client libraries do, so that rate() sees the first increase.
        let meter = HTTPMeter(statuses: [200, 500, 503])
        let families = configuration.cityFamilies.isEmpty ? CityFamilyName.allCases : configuration.cityFamilies
        let metrics = MetricsEndpoint(
            store: store, families: families, scrapes: web.omitsExporterMetrics ? nil : meter, figures: figures)
        let total = web.maximumRequests
        let limit =
            total == 0
            ? nil
            : RequestLimit(
                total, perClient: HTTPLimits.scrapesPerClient(of: total), waiting: total,
                patience: HTTPLimits.patience, eviction: .slowestReader,
                rejection: .busy("too many scrapes at once"))
        return Route(web.telemetryPath, limit: limit, meter: meter) { [feeds] request in
            // Once the response is complete.
            defer { feeds.noteRead(at: monotonicTime()) }
            return metrics.respond(to: request)
        }
    }

    private func historyRoute(limit: RequestLimit) -> Route {
        let history = HistoryEndpoint(store: store)
        let origin = configuration.web.corsOrigin.map { [("Access-Control-Allow-Origin", $0)] } ?? []
        let headers = HistoryEndpoint.headers + origin
        return Route(.history, headers: headers, rejectsInJSON: true, limit: limit, turns: turns(at: "histories")) {
            [feeds] request in
            defer { feeds.noteRead(at: monotonicTime()) }
            return history.respond(to: request)
        }
    }

    private func eventsRoute() -> Route {
        let total = HTTPLimits.listeners
        let each = HTTPLimits.listenersPerClient
        let limit = RequestLimit(
            total, perClient: each, eviction: .oldest,
            rejection: .busy("too many listeners: at most \(total), and \(each) of one address", retryAfter: 10))
        return Route(.events, limit: limit, respond: events.respond)
    }

    private func pageRoutes(limit: RequestLimit) -> [Route] {
        let assets = PageAssets(scale: store.rules.scale)
        let page = PageEndpoint(store: store, assets: assets, web: configuration.web)
        let turns = turns(at: "pages")
        return [
            Route(.list, limit: limit, turns: turns) { request in
                page.respond(to: request) { page throws(QueryError) in try page.list(request.query) }
            },
            Route(.city, limit: limit, turns: turns) { request in
                // Links to the cities "." and ".." end with a space (`Page.pathStep`).
                let name = Array(trimmed(request.path.utf8.dropFirst(ExporterPath.city.rawValue.utf8.count)))
                return page.respond(to: request) { page throws(QueryError) in try page.city(name, request.query) }
            },
            Route(.about, limit: limit, turns: turns) { page.respond(to: $0) { $0.about() } },
            Route(.favicon, limit: limit, respond: assets.respond),
            Route(.assets, limit: limit, respond: assets.respond),
        ]
    }

    /// Turns at generating documents of a kind, which leave processors to scrapes.
    ///
    /// - Parameter documents: their name in the plural, for the response if none was ready in time.
    private func turns(at documents: String) -> RequestLimit {
        let patience = HTTPLimits.renderingPatience
        return RequestLimit(
            HTTPLimits.renderings, perClient: HTTPLimits.renderings, patience: patience,
            rejection: .busy(
                "\(HTTPLimits.renderings) \(documents) are being generated, and none was ready within "
                    + "\(patience.components.seconds) s: try again later", retryAfter: 10))
    }

    private func healthRoutes() -> [Route] {
        [
            Route(.healthy, isExempt: true) { [self] _ in
                .status(livenessProblem(), is: 503, otherwise: "healthy")
            },
            Route(.ready, isExempt: true) { [store] _ in
                let problem = store.snapshot(withHistories: true).readinessProblem(at: currentTime())
                return .status(problem, is: 503, otherwise: "ready")
            },
        ]
    }

    private func lifecycleRoutes() -> [Route] {
        func route(_ path: ExporterPath, respond: @escaping @Sendable () -> HTTPResponse) -> Route {
            Route(path, methods: ["POST"]) { [isEnabled = configuration.web.isLifecycleEnabled] _ in
                isEnabled
                    ? respond() : HTTPResponse(status: 403, line: "lifecycle requests need --web.enable-lifecycle")
            }
        }
        return [
            route(.reconnect) { [feeds] in
                feeds.reconnect(at: monotonicTime())
                return HTTPResponse(status: 200, line: "reconnecting")
            },
            route(.reload) { [reloader] in .status(reloader.reload(), is: 500, otherwise: "reloaded") },
        ]
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

extension Route {
    fileprivate init(
        _ path: ExporterPath, methods: [String] = ["GET", "HEAD"], isExempt: Bool = false,
        headers: [(name: String, value: String)] = [], rejectsInJSON: Bool = false, limit: RequestLimit? = nil,
        turns: RequestLimit? = nil, respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        self.init(
            path.rawValue, isFolder: path.isFolder, methods: methods, isExempt: isExempt, headers: headers,
            rejectsInJSON: rejectsInJSON, limit: limit, turns: turns, respond: respond)
    }
}

extension HTTPResponse {
    /// The response of a health path; the problem is `nil` if all is well.
    fileprivate static func status(_ problem: String?, is status: Int, otherwise fine: String) -> HTTPResponse {
        HTTPResponse(status: problem == nil ? 200 : status, line: problem ?? fine)
    }
}
