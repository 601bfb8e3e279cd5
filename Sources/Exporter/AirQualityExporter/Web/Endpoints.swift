import Bytes
import CommandLine
import Compression
import HTTPServer
import HTTPText

/// The endpoints that the routes respond with.
struct Endpoints: Sendable {
    var metrics: MetricsEndpoint
    var history: HistoryEndpoint
    var health: Health
    var page: PageEndpoint
    var events: EventHub
    /// Counts the scrapes.
    var scrapes: HTTPMeter
    /// Scrapes at once; `nil`: no limit.
    var scrapeLimit: RequestLimit?
    /// Listeners of `/events` at once.
    let listenerLimit = RequestLimit(
        256, perClient: 64, rejection: .busy("too many listeners: at most 256, and 64 of one address", retryAfter: 10))
    /// Pages and histories at once: each is up to a megabyte while it is made.
    let documentLimit = RequestLimit(
        64, perClient: 16, patience: .milliseconds(500), rejection: .busy("too many requests at once"))
    var isLifecycleEnabled = false
    /// Told of each read of what the feeds are consumed for, after the response is made.
    var onRead: @Sendable () -> Void = {}
    var reconnect: @Sendable () -> Void = {}
    /// Reads files again; `nil` when all is well, else why not, in one line.
    var reload: @Sendable () -> String? = { nil }

    func routes(telemetryPath: String = ExporterPath.defaultTelemetryPath) -> [Route] {
        let scrape = Route(telemetryPath, limit: scrapeLimit, meter: scrapes) { read(metrics.respond(to: $0)) }
        return [scrape] + ExporterPath.allCases.map(route)
    }

    private func route(to path: ExporterPath) -> Route {
        switch path {
        case .history:
            Route(path.rawValue, rejectsInJSON: true, limit: documentLimit) { read(history.respond(to: $0)) }
        case .events: Route(path.rawValue, limit: listenerLimit) { read(events.respond(to: $0)) }
        case .healthy:
            Route(path.rawValue, needsPassword: false) { _ in
                .health(health.livenessProblem(), otherwise: "healthy")
            }
        case .ready:
            Route(path.rawValue, needsPassword: false) { _ in .health(health.readinessProblem, otherwise: "ready") }
        case .reconnect:
            Route(path.rawValue, methods: ["POST"]) { _ in
                guard isLifecycleEnabled else { return .lifecycleDisabled }
                reconnect()
                return HTTPResponse(status: 200, line: "reconnecting")
            }
        case .reload:
            Route(path.rawValue, methods: ["POST"]) { _ in
                guard isLifecycleEnabled else { return .lifecycleDisabled }
                let problem = reload()
                return HTTPResponse(status: problem == nil ? 200 : 500, line: problem ?? "reloaded")
            }
        case .list: Route(path.rawValue, limit: documentLimit) { page.respondWithList(to: $0) }
        case .about: Route(path.rawValue, limit: documentLimit) { page.respondWithAbout(to: $0) }
        case .city:
            Route(path.rawValue, isFolder: true, limit: documentLimit) { request in
                page.respond(toCity: Array(request.path.utf8.dropFirst(path.rawValue.utf8.count)), request)
            }
        case .favicon: Route(path.rawValue, limit: documentLimit) { _ in page.assets.respondWithFavicon() }
        case .assets: Route(path.rawValue, isFolder: true, limit: documentLimit) { page.assets.respond(to: $0) }
        }
    }

    /// Notes that somebody has read what the feeds are consumed for.
    private func read(_ response: HTTPResponse) -> HTTPResponse {
        onRead()
        return response
    }
}

extension RequestLimit {
    /// The limit of `--web.max-requests`, a quarter of it for one client; `nil` for 0, which is none.
    static func scrapes(_ limit: Int) -> RequestLimit? {
        if limit == 0 { return nil }
        return RequestLimit(
            limit, perClient: max(1, limit / 4), patience: .milliseconds(500),
            rejection: .busy("too many scrapes at once"))
    }
}

extension HTTPResponse {
    fileprivate static var lifecycleDisabled: HTTPResponse {
        HTTPResponse(status: 403, line: "lifecycle requests need --web.enable-lifecycle")
    }

    /// A health path's response.
    fileprivate static func health(_ problem: String?, otherwise fine: String) -> HTTPResponse {
        HTTPResponse(status: problem == nil ? 200 : 503, line: problem ?? fine)
    }

    /// Content, compressed where the client takes it.
    init(headers: [(name: String, value: String)], to request: HTTPRequest, _ content: [UInt8]) {
        let isGzip = request.takesGzip
        self.init(
            status: 200, headers: headers + (isGzip ? [("Content-Encoding", "gzip")] : []),
            body: .bytes(isGzip ? Gzip.member(of: content) : content))
    }
}

extension HTTPRequest {
    var takesGzip: Bool { prefersGzip(acceptEncoding: header("Accept-Encoding")) }
}
