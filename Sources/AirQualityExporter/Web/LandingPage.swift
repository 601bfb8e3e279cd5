import AirQuality
import HTTPServer
import System

/// Answers `/`.
struct LandingPage: Sendable {
    var store: ReadingStore
    var document: LandingDocument

    init(store: ReadingStore, version: String, telemetryPath: String) {
        self.store = store
        document = LandingDocument(
            version: version,
            links: [
                (telemetryPath, "Metrics for Prometheus"), (Routes.historyPath, "History of each city as JSON"),
                (Routes.healthyPath, "Whether the exporter works"), (Routes.readyPath, "Whether the feed is fresh"),
            ], historyPath: Routes.historyPath)
    }

    func respond() -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: [("Content-Type", "text/html; charset=UTF-8"), ("Cache-Control", "no-cache")],
            body: .bytes(document.render(store.snapshot(), scale: store.rules.scale, at: currentTime())))
    }
}
