import AirQuality
import Bytes
import HTTPServer
import System

/// Serves `/`, `/city/NAME` and `/about`, on the work queue.
struct PageEndpoint: Sendable {
    private let store: ReadingStore
    private let health: Health
    let assets: PageAssets
    private let list: ListDocument
    private let city: CityDocument
    private let about: AboutDocument
    private let headers: [(name: String, value: String)]

    init(store: ReadingStore, health: Health, web: Configuration.Web, version: String) {
        self.store = store
        self.health = health
        assets = PageAssets(scale: store.rules.scale)
        let settings = PageSettings(
            version: version, scale: store.rules.scale, telemetryPath: web.telemetryPath,
            styleSheet: assets.styleSheet.forPage, script: assets.script.forPage, icon: assets.icon.forPage,
            map: assets.map.forPage, grafanaURL: web.grafanaURL, hasEvents: web.maximumListeners > 0,
            isLifecycleEnabled: web.isLifecycleEnabled)
        list = ListDocument(settings)
        city = CityDocument(settings)
        about = AboutDocument(settings)
        // The policy allows the one script by its hash. It cannot do so for an external style sheet (CSP 3, 8.4), whose
        // hash is in the page's `integrity` attribute instead.
        let policy = [
            "default-src 'none'", "script-src '\(assets.script.integrity)'", "style-src 'self'", "img-src 'self'",
            "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        ]
        headers = [
            ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy.joined(separator: "; ")),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-cache"),
            ("Vary", "Accept-Encoding"),
        ]
    }

    func respondWithList(to request: HTTPRequest) -> HTTPResponse {
        let query: ListQuery
        do throws(QueryError) {
            query = try ListQuery(request.query)
        } catch {
            return HTTPResponse(status: 400, line: error.line)
        }
        let snapshot = store.pageSnapshot()
        let now = currentTime()
        return answer(
            status: 200, list.render(snapshot, query: query, outage: outage(snapshot, now), at: now), to: request)
    }

    func respondWithAbout(to request: HTTPRequest) -> HTTPResponse {
        let snapshot = store.pageSnapshot()
        let now = currentTime()
        return answer(status: 200, about.render(snapshot, outage: outage(snapshot, now), at: now), to: request)
    }

    /// - Parameter name: percent-decoded; may hold slashes.
    func respond(toCity name: [UInt8], _ request: HTTPRequest) -> HTTPResponse {
        let query: ChartQuery
        do throws(QueryError) {
            query = try ChartQuery(request.query)
        } catch {
            return HTTPResponse(status: 400, line: error.line)
        }
        // Names have no blanks around them, but links to the cities "." and ".." end with one (`PageFrame.pathStep`).
        let name = Array(name.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed())
        let snapshot = store.pageSnapshot()
        let now = currentTime()
        let outage = outage(snapshot, now)
        do throws(QueryError) {
            if let document = try city.render(name, snapshot, query: query, outage: outage, at: now) {
                return answer(status: 200, document, to: request)
            }
        } catch {
            return HTTPResponse(status: 400, line: error.line)
        }
        guard request.header("Accept")?.split(separator: ",").contains(where: { $0.hasPrefix("text/html") }) ?? false
        else {
            return HTTPResponse(status: 404, line: "no such city; see / for the list")
        }
        return answer(status: 404, city.renderUnknown(name, snapshot, outage: outage, at: now), to: request)
    }

    private func outage(_ snapshot: PageSnapshot, _ now: Timestamp) -> Outage? {
        guard health.staleness(of: snapshot.feeds, at: now) != nil else { return nil }
        return Outage(
            since: snapshot.feeds.compactMap(\.lastReadingAt).max(), hint: health.hint(of: snapshot.feeds))
    }

    /// Without an entity tag: the ages in it make each answer another one.
    private func answer(status: Int, _ document: [UInt8], to request: HTTPRequest) -> HTTPResponse {
        guard prefersGzip(acceptEncoding: request.header("Accept-Encoding")) else {
            return HTTPResponse(status: status, headers: headers, body: .bytes(document))
        }
        return HTTPResponse(
            status: status, headers: headers + [("Content-Encoding", "gzip")],
            body: .bytes(Gzip.member(of: document.span)))
    }
}
