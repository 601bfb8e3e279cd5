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
        settings = PageSettings(
            version: version, scale: store.rules.scale, styleSheet: assets.styleSheet.forPage,
            script: assets.script.forPage, icon: assets.icon.forPage, largeIcon: assets.largeIcon.forPage,
            grafanaURL: web.grafanaURL,
            paths: ExporterRoute.all(telemetryPath: web.telemetryPath).compactMap { route in
                route.meaning.map { PagePath(path: route.path, meaning: $0) }
            }, isLifecycleEnabled: web.isLifecycleEnabled)
        // The policy allows the one script by its hash. It cannot do so for an external style sheet (CSP 3, 8.4), whose
        // hash is in the page's `integrity` attribute instead.
        let policy = [
            "default-src 'none'", "script-src '\(assets.script.integrity)'", "style-src 'self'", "img-src 'self'",
            "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        ]
        headers = [
            ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy.joined(separator: "; ")),
            ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding"),
        ]
    }

    func respondWithList(to request: HTTPRequest) -> HTTPResponse {
        respond(to: request) { page throws(QueryError) in (200, page.list(try ListQuery(request.query))) }
    }

    func respondWithAbout(to request: HTTPRequest) -> HTTPResponse {
        respond(to: request) { page in (200, page.about()) }
    }

    /// - Parameter name: percent-decoded; may hold slashes.
    func respond(toCity name: [UInt8], _ request: HTTPRequest) -> HTTPResponse {
        // Names have no blanks around them, but links to the cities "." and ".." end with one (`Page.pathStep`).
        let name = Array(name.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed())
        return respond(to: request) { page throws(QueryError) in
            if let found = page.city(name, try ChartQuery(request.query)) { return (200, found) }
            let takesPage =
                request.header("Accept")?.split(separator: ",").contains { $0.hasPrefix("text/html") } ?? false
            return (404, takesPage ? page.unknownCity(name) : nil)
        }
    }

    /// Without an entity tag: the ages in a page make each response another one.
    ///
    /// - Parameter render: gives the status and the document; `nil` where the client takes no page.
    private func respond(
        to request: HTTPRequest, _ render: (Page) throws(QueryError) -> (status: Int, document: [UInt8]?)
    ) -> HTTPResponse {
        let snapshot = store.snapshot(withHistories: true)
        let now = currentTime()
        return cache.response(to: request, version: snapshot.version, at: now) {
            let page = Page(settings, snapshot, outage: outage(of: snapshot, at: now), at: now)
            do throws(QueryError) {
                let (status, document) = try render(page)
                guard let document else { return HTTPResponse(status: 404, line: "no such city; see / for the list") }
                return HTTPResponse(status: status, headers: headers, to: request, document)
            } catch {
                return HTTPResponse(status: 400, line: error.line)
            }
        }
    }

    private func outage(of snapshot: StoreSnapshot, at now: Timestamp) -> Outage? {
        guard health.staleness(of: snapshot.feeds, at: now) != nil else { return nil }
        return Outage(since: snapshot.feeds.compactMap(\.lastReadingAt).max(), hint: health.hint(of: snapshot.feeds))
    }
}
