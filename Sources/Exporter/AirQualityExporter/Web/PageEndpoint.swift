import AirQuality
import Bytes
import HTTPServer
import HTTPText
import Page
import System

/// Serves `/`, `/city/NAME` and `/about`.
struct PageEndpoint: Sendable {
    private let store: ReadingStore
    private let health: Health
    let assets: PageAssets
    private let settings: PageSettings
    private let headers: [(name: String, value: String)]
    private let cache = PageCache()

    init(store: ReadingStore, health: Health, web: Configuration.Web, version: String) {
        self.store = store
        self.health = health
        assets = PageAssets(scale: store.rules.scale)
        func path(_ asset: PageAssets.Asset) -> String { String(asset.path.dropFirst()) }
        settings = PageSettings(
            version: version, scale: store.rules.scale, styleSheet: path(assets.styleSheet),
            script: path(assets.script), icon: path(assets.icon), largeIcon: path(assets.largeIcon),
            grafanaURL: web.grafanaURL,
            paths: [(web.telemetryPath, "metrics for Prometheus")]
                + ExporterPath.allCases.compactMap { path in path.meaning.map { (path.rawValue, $0) } },
            isLifecycleEnabled: web.isLifecycleEnabled)
        let policy = [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
            "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        ]
        headers = [
            ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy.joined(separator: "; ")),
            ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding"),
        ]
    }

    func respondWithList(to request: HTTPRequest) -> HTTPResponse {
        respond(to: request) { page throws(QueryError) in page.list(try ListQuery(request.query)) }
    }

    func respondWithAbout(to request: HTTPRequest) -> HTTPResponse {
        respond(to: request) { page in page.about() }
    }

    /// - Parameter name: percent-decoded; may hold slashes.
    func respond(toCity name: [UInt8], _ request: HTTPRequest) -> HTTPResponse {
        // Names have no blanks around them, but links to the cities "." and ".." end with one (`Page.pathStep`).
        let name = Array(trimmed(name))
        return respond(to: request) { page throws(QueryError) in page.city(name, try ChartQuery(request.query)) }
    }

    /// Without an entity tag: the ages in a page make each response another one.
    ///
    /// - Parameter render: gives the document; `nil` where there is no such city.
    private func respond(to request: HTTPRequest, _ render: (Page) throws(QueryError) -> [UInt8]?) -> HTTPResponse {
        let snapshot = store.snapshot(withHistories: true)
        let now = currentTime()
        return cache.response(to: request, version: snapshot.version, at: now) {
            let isStale = health.isStale(snapshot.feeds, at: now)
            let hint = isStale || snapshot.cityCount == 0 ? health.hint(of: snapshot.feeds) : nil
            let page = Page(settings, snapshot, isStale: isStale, hint: hint, at: now)
            do throws(QueryError) {
                guard let document = try render(page) else {
                    return HTTPResponse(status: 404, line: "no such city; see / for the list")
                }
                return HTTPResponse(headers: headers, to: request, document)
            } catch {
                return HTTPResponse(status: 400, line: error.line)
            }
        }
    }
}
