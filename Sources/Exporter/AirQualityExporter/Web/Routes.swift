import AirQuality
import Bytes
import CommandLine
import HTTPServer
import HTTPText
import System

/// The paths, with the response of each.
struct Routes: Sendable {
    static let historyPath = "/history.json"
    static let healthyPath = "/-/healthy"
    static let readyPath = "/-/ready"
    static let reconnectPath = "/-/reconnect"
    static let reloadPath = "/-/reload"
    static let eventsPath = "/events"
    static let aboutPath = "/about"
    static let cityFolder = "/city/"
    static let assetsFolder = PageAssets.folder
    static let folders = [cityFolder, assetsFolder]

    var telemetryPath: String
    var isLifecycleEnabled: Bool
    var metrics: MetricsEndpoint
    var history: HistoryEndpoint
    var health: Health
    var page: PageEndpoint
    /// nil: there is no such path.
    var events: EventHub?
    /// Told of each read of the metrics or the history, after the response is made.
    var onRead: @Sendable () -> Void
    var reconnect: @Sendable () -> Void
    /// nil when all is well, else why not, in one line.
    var reload: @Sendable () -> String?
    var resources: RouteResources

    /// The serving thread makes the metrics as text, what is said of the health, and refusals; it makes nothing else.
    func handling(of request: HTTPRequest) -> HTTPHandling {
        var handling = HTTPHandling()
        switch request.path {
        case telemetryPath:
            handling.isMetered = true
            handling.permits = resources.scrapes
        case Self.healthyPath, Self.readyPath, Self.reconnectPath: break
        case Self.reloadPath:
            handling.queue = resources.files
            handling.timeLimit = .seconds(10)
            handling.overdue = HTTPRefusal(500, "the files have not been read after 10 s: does a file system hang?")
        case Self.eventsPath where events != nil:
            handling.permits = resources.listeners
            handling.queue = resources.pages
        case Self.historyPath:
            handling.permits = resources.documents
            handling.weight = RouteResources.pageMemory
            handling.queue = resources.pages
        case let path
        where path == "/" || path == Self.aboutPath || Self.folders.contains { path.utf8.starts(with: $0.utf8) }:
            handling.permits = resources.documents
            handling.weight = RouteResources.pageMemory
            handling.queue = resources.pages
        default: break
        }
        return handling
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        if request.path == telemetryPath {
            return refusal(of: request) ?? reading { metrics.respond(to: request) }
        }
        switch request.path {
        case Self.historyPath: return refusal(of: request) ?? reading { history.respond(to: request) }
        case "/": return refusal(of: request) ?? page.respondWithList(to: request)
        case Self.aboutPath: return refusal(of: request) ?? page.respondWithAbout(to: request)
        case PageAssets.favicon: return refusal(of: request) ?? page.assets.respondWithFavicon(to: request)
        case Self.eventsPath where events != nil:
            return refusal(of: request) ?? reading { events!.respond(to: request) }
        case Self.healthyPath:
            return refusal(of: request) ?? Self.response(to: health.livenessProblem(), otherwise: "healthy")
        case Self.readyPath:
            return refusal(of: request) ?? Self.response(to: health.readinessProblem, otherwise: "ready")
        case Self.reconnectPath:
            if let refusal = lifecycleRefusal(of: request) { return refusal }
            reconnect()
            return HTTPResponse(status: 200, line: "reconnecting")
        case Self.reloadPath:
            if let refusal = lifecycleRefusal(of: request) { return refusal }
            guard let problem = reload() else { return HTTPResponse(status: 200, line: "reloaded") }
            return HTTPResponse(status: 500, line: problem)
        // By their bytes: for `hasPrefix`, a combining character at the beginning of a name belongs to the slash.
        case let path where path.utf8.starts(with: Self.cityFolder.utf8):
            return refusal(of: request)
                ?? page.respond(toCity: Array(path.utf8.dropFirst(Self.cityFolder.utf8.count)), request)
        case let path where path.utf8.starts(with: Self.assetsFolder.utf8):
            return refusal(of: request) ?? page.assets.respond(to: request)
        default: return HTTPResponse(status: 404, line: "not found; see /about for all paths")
        }
    }

    /// A path that the feed is consumed for.
    private func reading(_ respond: () -> HTTPResponse) -> HTTPResponse {
        let response = respond()
        onRead()
        return response
    }

    private func lifecycleRefusal(of request: HTTPRequest) -> HTTPResponse? {
        if let refusal = refusal(of: request, allowed: ["POST"]) { return refusal }
        guard isLifecycleEnabled else {
            let flag = Configuration.flag(\.web.isLifecycleEnabled)
            return HTTPResponse(status: 403, line: "lifecycle requests need \(flag)")
        }
        return nil
    }

    private func refusal(of request: HTTPRequest, allowed: [String] = ["GET", "HEAD"]) -> HTTPResponse? {
        guard !allowed.contains(request.method) else { return nil }
        let allow = (name: "Allow", value: allowed.joined(separator: ", "))
        let line = "method not allowed here, expected \(allow.value)"
        return Self.error(status: 405, headers: [allow], line, path: request.path)
    }

    /// The response to a request that the server refuses on its own.
    static func response(to refusal: HTTPRefusal, path: String?) -> HTTPResponse {
        error(status: refusal.status, headers: refusal.headers, refusal.line, path: path)
    }

    private static func error(
        status: Int, headers: [(name: String, value: String)], _ line: String, path: String?
    ) -> HTTPResponse {
        path == historyPath
            ? .jsonError(status: status, headers: headers, line)
            : HTTPResponse(status: status, headers: headers, line: line)
    }

    private static func response(to problem: String?, otherwise healthy: String) -> HTTPResponse {
        problem.map { HTTPResponse(status: 503, line: $0) } ?? HTTPResponse(status: 200, line: healthy)
    }
}

/// Permits and queues that requests share.
struct RouteResources: Sendable {
    let scrapes: RequestPermits
    let listeners: RequestPermits
    /// The weight is bytes: responses wait in memory until they are read.
    let documents = RequestPermits(limit: 32 << 20)
    let pages = WorkQueue(name: "pages")
    /// Reads files, which may hang: nothing else waits for them.
    let files = WorkQueue(name: "files", limit: 8)

    /// Bytes of a page at most, about.
    static let pageMemory = 512 << 10

    init(maximumRequests: Int, maximumListeners: Int) {
        scrapes = RequestPermits(limit: maximumRequests)
        listeners = RequestPermits(
            limit: maximumListeners,
            refusal: HTTPRefusal(
                503, headers: [("Retry-After", "10")], "too many listeners, expected at most \(maximumListeners)"))
    }
}

extension HTTPResponse {
    /// Content, compressed where the client takes it.
    init(status: Int = 200, headers: [(name: String, value: String)], to request: HTTPRequest, _ content: [UInt8]) {
        let isGzip = request.takesGzip
        self.init(
            status: status, headers: headers + (isGzip ? [("Content-Encoding", "gzip")] : []),
            body: .bytes(isGzip ? Gzip.member(of: content.span) : content))
    }

    /// `{"error": "…"}`, as the JSON paths respond.
    static func jsonError(status: Int, headers: [(name: String, value: String)] = [], _ line: String) -> HTTPResponse {
        var text = Array("{\"error\": ".utf8)
        text.appendJSONString(onOneLine(line).utf8Span.span)
        text += "}\n".utf8
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/json")] + headers, body: .bytes(text))
    }
}

extension HTTPRequest {
    var takesGzip: Bool { prefersGzip(acceptEncoding: header("Accept-Encoding")) }

    /// Whether the client has the document with this tag: `If-None-Match` names it. Weak and strong tags are equal there
    /// (RFC 9110 section 13.1.2).
    func has(_ tag: String) -> Bool {
        let tag = tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
        return header("If-None-Match")?.split(separator: ",").contains { candidate in
            var candidate = trimmed(candidate)
            if candidate.hasPrefix("W/") { candidate.removeFirst(2) }
            return candidate == "*" || candidate == tag
        } ?? false
    }
}
