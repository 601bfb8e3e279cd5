import AirQuality
import Bytes
import CommandLine
import HTTPServer
import HTTPText
import System

/// A path of the exporter, with its response.
struct ExporterRoute: Sendable {
    let path: String
    var isFolder = false
    var methods = ["GET", "HEAD"]
    var needsPassword = true
    var rejectsInJSON = false
    /// Whether a request is a read of what the feeds are consumed for.
    var isReader = false
    /// Its line in the list on `/about`; `nil`: it is not listed.
    var meaning: String?
    var limit: @Sendable (Endpoints) -> RequestLimit? = { _ in nil }
    var meter: @Sendable (Endpoints) -> HTTPMeter? = { _ in nil }
    let respond: @Sendable (Endpoints, HTTPRequest) -> HTTPResponse

    static let defaultTelemetryPath = "/metrics"
    static let readyPath = "/-/ready"

    /// All paths there are. To add one, add it here.
    static func all(telemetryPath: String = defaultTelemetryPath) -> [ExporterRoute] {
        [
            ExporterRoute(
                path: telemetryPath, isReader: true, meaning: "metrics for Prometheus", limit: \.scrapeLimit,
                meter: \.scrapes, respond: { $0.metrics.respond(to: $1) }),
            ExporterRoute(
                path: "/history.json", rejectsInJSON: true, isReader: true, meaning: "the recent points of all cities",
                limit: \.documentLimit, respond: { $0.history.respond(to: $1) }),
            ExporterRoute(
                path: "/events", isReader: true, meaning: "changes as server-sent events", limit: \.listenerLimit,
                respond: { $0.events.respond(to: $1) }),
            ExporterRoute(
                path: "/-/healthy", needsPassword: false, meaning: "whether the exporter works",
                respond: { endpoints, _ in .health(endpoints.health.livenessProblem(), otherwise: "healthy") }),
            ExporterRoute(
                path: readyPath, needsPassword: false, meaning: "whether its data is fresh",
                respond: { endpoints, _ in .health(endpoints.health.readinessProblem, otherwise: "ready") }),
            ExporterRoute(
                path: "/-/reconnect", methods: ["POST"],
                respond: { endpoints, _ in
                    endpoints.reconnect()
                    return HTTPResponse(status: 200, line: "reconnecting")
                }),
            ExporterRoute(
                path: "/-/reload", methods: ["POST"],
                respond: { endpoints, _ in
                    let problem = endpoints.reload()
                    return HTTPResponse(status: problem == nil ? 200 : 500, line: problem ?? "reloaded")
                }),
            ExporterRoute(
                path: "/", limit: \.documentLimit,
                respond: { $0.page.respondWithList(to: $1) }),
            ExporterRoute(
                path: "/about", limit: \.documentLimit,
                respond: { $0.page.respondWithAbout(to: $1) }),
            ExporterRoute(
                path: "/city/", isFolder: true, limit: \.documentLimit,
                respond: { endpoints, request in
                    let name = Array(request.path.utf8.dropFirst("/city/".utf8.count))
                    return endpoints.page.respond(toCity: name, request)
                }),
            ExporterRoute(
                path: PageAssets.favicon, limit: \.documentLimit,
                respond: { endpoints, _ in endpoints.page.assets.respondWithFavicon() }),
            ExporterRoute(
                path: PageAssets.folder, isFolder: true, limit: \.documentLimit,
                respond: { $0.page.assets.respond(to: $1) }),
        ]
    }

    /// The route with its response from these endpoints. All that are no reads need the lifecycle's flag.
    func route(to endpoints: Endpoints) -> Route {
        Route(
            path, isFolder: isFolder, methods: methods, needsPassword: needsPassword, rejectsInJSON: rejectsInJSON,
            limit: limit(endpoints), meter: meter(endpoints)
        ) { [isReader, respond] request in
            if request.method == "POST", !endpoints.isLifecycleEnabled {
                let flag = Configuration.flag(\.web.isLifecycleEnabled)
                return HTTPResponse(status: 403, line: "lifecycle requests need \(flag)")
            }
            let response = respond(endpoints, request)
            if isReader { endpoints.onRead() }
            return response
        }
    }
}

extension HTTPResponse {
    /// A health path's response.
    fileprivate static func health(_ problem: String?, otherwise fine: String) -> HTTPResponse {
        HTTPResponse(status: problem == nil ? 200 : 503, line: problem ?? fine)
    }

    /// Content, compressed where the client takes it.
    init(status: Int = 200, headers: [(name: String, value: String)], to request: HTTPRequest, _ content: [UInt8]) {
        let isGzip = request.takesGzip
        self.init(
            status: status, headers: headers + (isGzip ? [("Content-Encoding", "gzip")] : []),
            body: .bytes(isGzip ? Gzip.member(of: content) : content))
    }
}

extension HTTPRequest {
    var takesGzip: Bool { prefersGzip(acceptEncoding: header("Accept-Encoding")) }
}
