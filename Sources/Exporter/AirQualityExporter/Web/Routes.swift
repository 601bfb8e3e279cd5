import AirQuality
import Bytes
import CommandLine
import HTTPServer

/// Which path answers what.
struct Routes: Sendable {
    static let historyPath = "/history.json"
    static let healthyPath = "/-/healthy"
    static let readyPath = "/-/ready"
    static let reconnectPath = "/-/reconnect"
    static let reloadPath = "/-/reload"
    static let eventsPath = "/events"
    static let aboutPath = "/about"
    static let cityFolder = "/city/"
    static let assetsFolder = "/assets/"
    static let folders = [cityFolder, assetsFolder]

    var telemetryPath: String
    var isLifecycleEnabled: Bool
    var metrics: MetricsEndpoint
    var history: HistoryEndpoint
    var health: Health
    var page: PageEndpoint
    /// nil: there is no such path.
    var events: EventHub?
    /// Told of each read of the metrics or the history, after it has been answered.
    var onRead: @Sendable () -> Void
    var reconnect: @Sendable () -> Void
    /// nil when all is well, else why not, in one line.
    var reload: @Sendable () -> String?

    func respond(to request: borrowing HTTPRequest) -> HTTPResponse {
        if request.path == telemetryPath {
            return refusal(of: request) ?? reading { metrics.respond(to: request) }
        }
        switch request.path {
        case Self.historyPath:
            return refusal(of: request) ?? reading { history.respond(to: request) }
        case "/":
            return refusal(of: request) ?? page.respondWithList(to: request)
        case Self.aboutPath:
            return refusal(of: request) ?? page.respondWithAbout(to: request)
        case Self.eventsPath where events != nil:
            return refusal(of: request) ?? reading { events!.respond(to: request) }
        case Self.healthyPath:
            return refusal(of: request) ?? Self.response(to: health.livenessProblem, otherwise: "healthy")
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
        case let path where path.hasPrefix(Self.cityFolder):
            return refusal(of: request) ?? page.respond(toCity: path.dropFirst(Self.cityFolder.count), request)
        case let path where path.hasPrefix(Self.assetsFolder):
            return refusal(of: request) ?? page.assets.respond(to: request)
        default:
            return HTTPResponse(status: 404, line: "no such page: \"/\" lists all there are")
        }
    }

    /// A path that the feed is consumed for.
    private func reading(_ respond: () -> HTTPResponse) -> HTTPResponse {
        let response = respond()
        onRead()
        return response
    }

    private func lifecycleRefusal(of request: borrowing HTTPRequest) -> HTTPResponse? {
        if let refusal = refusal(of: request, allowed: ["POST"]) { return refusal }
        guard isLifecycleEnabled else {
            let flag = Configuration.flag(\.web.isLifecycleEnabled)
            return HTTPResponse(status: 403, line: "lifecycle requests need \(flag)")
        }
        return nil
    }

    private func refusal(
        of request: borrowing HTTPRequest, allowed: [String] = ["GET", "HEAD"]
    ) -> HTTPResponse? {
        guard !allowed.contains(request.method) else { return nil }
        let allow = (name: "Allow", value: allowed.joined(separator: ", "))
        let line = "method not allowed here, expected \(allow.value)"
        return Self.error(status: 405, headers: [allow], line, path: request.path)
    }

    /// What the server refuses on its own.
    static func answer(_ refusal: HTTPRefusal, path: String?) -> HTTPResponse {
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

extension HTTPResponse {
    /// `{"error": "…"}`, as the JSON paths answer.
    static func jsonError(
        status: Int, headers: [(name: String, value: String)] = [], _ line: String
    ) -> HTTPResponse {
        var text = Array("{\"error\": ".utf8)
        text.appendJSONString(onOneLine(line).utf8Span.span)
        text += "}\n".utf8
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/json")] + headers,
            body: .bytes(text))
    }
}
