import AirQuality
import HTTPServer
import HTTPText
import Page
import System

/// Serves `/`, `/city/NAME` and `/about`.
struct PageEndpoint: Sendable {
    private let store: ReadingStore
    private let settings: PageSettings

    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ]
    private static let headers = [
        ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy.joined(separator: "; ")),
        ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-cache"), ("Vary", "Accept, Accept-Encoding"),
    ]

    init(store: ReadingStore, assets: PageAssets, web: Configuration.Web) {
        self.store = store
        var paths = [(web.telemetryPath, isLink: true, meaning: "metrics for Prometheus")]
        for path in ExporterPath.allCases where web.isLifecycleEnabled || !path.isLifecycle {
            guard let meaning = path.meaning else { continue }
            paths.append((path.rawValue, isLink: path != .city && !path.isLifecycle, meaning: meaning))
        }
        settings = PageSettings(
            version: BuildVersion.version, assets: String(assets.folder.dropFirst()), grafanaURL: web.grafanaURL,
            paths: paths, isLifecycleEnabled: web.isLifecycleEnabled)
    }

    /// Sends no entity tag, because ages make each response different. `render` returns `nil` for an unknown city.
    func respond(to request: HTTPRequest, _ render: (Page) throws(QueryError) -> [UInt8]?) -> HTTPResponse {
        let now = currentTime()
        let snapshot = store.snapshot(withHistories: true)
        let page = Page(settings, snapshot, at: now, causes: snapshot.publicCauses(at: now))
        do throws(QueryError) {
            if let document = try render(page) {
                return HTTPResponse(headers: Self.headers, to: request, document)
            }
            guard prefersHTML(accept: request.header("Accept")) else {
                return HTTPResponse(status: 404, line: "no such city; see / for the list")
            }
            return HTTPResponse(status: 404, headers: Self.headers, to: request, page.missingCity())
        } catch {
            return HTTPResponse(status: 400, line: error.line)
        }
    }
}
