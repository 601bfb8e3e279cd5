import AirQuality
import HTTPServer
import Synchronization
import System

/// Answers scrapes.
final class MetricsEndpoint: Sendable {
    private let store: ReadingStore
    private let scrapes: HTTPMeter?
    private let handshakes: HTTPMeter?
    private let storage: StorageService?
    private let events: EventHub?
    /// This lock is held while rendering, so that scrapes at the same time share one rendering; the store's is not.
    private let caches: Mutex<ScrapeCaches>

    /// - Parameters:
    ///   - scrapes: nil leaves out `process_*` and `promhttp_*`.
    ///   - handshakes: nil without TLS.
    ///   - events: nil without listeners.
    init(
        store: ReadingStore, build: ExporterReport.Build, scrapes: HTTPMeter?, handshakes: HTTPMeter? = nil,
        storage: StorageService?, events: EventHub? = nil
    ) {
        self.store = store
        self.scrapes = scrapes
        self.handshakes = handshakes
        self.storage = storage
        self.events = events
        caches = Mutex(ScrapeCaches(page: MetricsPage(rules: store.rules, build: build)))
    }

    func respond(to request: borrowing HTTPRequest) -> HTTPResponse {
        let accept = request.header("Accept") ?? ""
        let isGzip = prefersGzip(acceptEncoding: request.header("Accept-Encoding"))
        let snapshot = store.snapshot()
        return caches.withLock { caches in
            let answer = caches.answers.value(for: accept) { ScrapeAnswer(accept: accept) }
            var report = ExporterReport(
                web: .init(
                    listeners: events?.listenerCount, tlsHandshakeFailures: handshakes?.current.tlsHandshakeFailures),
                storage: storage?.report)
            if let scrapes {
                report.process = caches.process.value(for: monotonicTime().components.seconds) {
                    ExporterReport.Process(ProcessStatistics.current())
                }
                report.handler = ExporterReport.Handler(scrapes.current)
            }
            let page = caches.page.render(snapshot, report: report, format: answer.format)
            return HTTPResponse(
                status: 200, headers: isGzip ? answer.gzipHeaders : answer.headers,
                body: .blocks(isGzip ? caches.gzip.member(of: page) : page.pieces))
        }
    }
}

/// What scrapes leave for the next ones.
private struct ScrapeCaches: ~Copyable {
    var page: MetricsPage
    var gzip = GzipCache()
    /// By the second in which they were read: reading /proc costs more than a whole scrape.
    var process = Cached<Int64, ExporterReport.Process>()
    /// By the `Accept` header.
    var answers = Cached<String, ScrapeAnswer>()

    init(page: MetricsPage) {
        self.page = page
    }
}

/// What an `Accept` header leads to.
private struct ScrapeAnswer {
    let format: ExpositionFormat
    let headers: [(name: String, value: String)]
    let gzipHeaders: [(name: String, value: String)]

    init(accept: String) {
        let accepted = AcceptedFormat.negotiate(accept)
        format = accepted.format
        headers = [("Content-Type", accepted.contentType), ("Vary", "Accept, Accept-Encoding")]
        gzipHeaders = headers + [("Content-Encoding", "gzip")]
    }
}

extension ExporterReport.Handler {
    init(_ statistics: HTTPStatistics) {
        self.init(
            inFlight: statistics.requestsInFlight,
            requests: statistics.answers.map { ($0.status, UInt64($0.count)) })
    }
}

extension ExporterReport.Process {
    init(_ statistics: ProcessStatistics) {
        self.init()
        cpuSeconds = statistics.cpuSeconds
        heapBytes = statistics.heapBytes.map { Double($0) }
        openFDs = statistics.openFileDescriptors.map { Double($0) }
        maxFDs = statistics.maximumFileDescriptors.map { Double($0) }
        networkReceiveBytes = statistics.networkReceiveBytes.map { Double($0) }
        networkTransmitBytes = statistics.networkTransmitBytes.map { Double($0) }
        residentMemoryBytes = statistics.residentMemoryBytes.map { Double($0) }
        startTimeSeconds = statistics.startTime
        threads = statistics.threads.map { Double($0) }
        virtualMemoryBytes = statistics.virtualMemoryBytes.map { Double($0) }
        virtualMemoryMaxBytes = statistics.maximumVirtualMemoryBytes.map { Double($0) }
    }
}
