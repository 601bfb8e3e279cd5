import AirQuality
import HTTPServer
import Synchronization
import System

/// Answers scrapes.
final class MetricsEndpoint: Sendable {
    private let store: ReadingStore
    private let scrapes: HTTPMeter?
    private let storage: StorageService?
    /// What is kept from scrape to scrape. This lock is held while rendering, so that scrapes at the same time share
    /// one rendering; the store's is not.
    private let kept: Mutex<KeptPage>

    /// - Parameters:
    ///   - scrapes: nil leaves out `process_*` and `promhttp_*`.
    init(store: ReadingStore, build: ExporterReport.Build, scrapes: HTTPMeter?, storage: StorageService?) {
        self.store = store
        self.scrapes = scrapes
        self.storage = storage
        let handler = scrapes.map { _ in ExporterReport.Handler(inFlight: 0, requests: []) }
        kept = Mutex(
            KeptPage(page: MetricsPage(rules: store.rules), report: ExporterReport(build: build, handler: handler)))
    }

    func respond(to request: borrowing HTTPRequest) -> HTTPResponse {
        let accept = request.header("Accept") ?? ""
        let isGzip = prefersGzip(acceptEncoding: request.header("Accept-Encoding"))
        let snapshot = store.snapshot()
        return kept.withLock { kept in
            let negotiated = kept.negotiated(accept)
            kept.report.storage = storage?.report
            if let scrapes {
                kept.readProcess()
                kept.report.handler?.update(scrapes.current)
            }
            let page = kept.page.render(snapshot, report: kept.report, format: negotiated.format)
            return HTTPResponse(
                status: 200, headers: isGzip ? negotiated.gzipHeaders : negotiated.headers,
                body: isGzip ? .blocks(kept.compressed.member(of: page)) : kept.text.body(of: page))
        }
    }
}

/// What scrapes leave for the next ones.
private struct KeptPage {
    var page: MetricsPage
    var text = JoinedBlocks()
    var compressed = CompressedBlocks()
    private var negotiations: [Negotiated] = []
    var report: ExporterReport
    private var processReadAt: Duration?

    init(page: MetricsPage, report: ExporterReport) {
        self.page = page
        self.report = report
    }

    /// What an `Accept` header leads to.
    struct Negotiated {
        var accept: String
        var format: ExpositionFormat
        var headers: [(name: String, value: String)]
        var gzipHeaders: [(name: String, value: String)]

        init(accept: String) {
            self.accept = accept
            let accepted = AcceptedFormat.negotiate(accept)
            format = accepted.format
            headers = [("Content-Type", accepted.contentType), ("Vary", "Accept, Accept-Encoding")]
            gzipHeaders = headers + [("Content-Encoding", "gzip")]
        }
    }

    /// How many different headers are remembered.
    private static let maximumNegotiations = 16

    mutating func negotiated(_ accept: String) -> Negotiated {
        // A handful, found faster by looking through than by hashing.
        if let known = negotiations.first(where: { $0.accept == accept }) { return known }
        if negotiations.count >= Self.maximumNegotiations { negotiations.removeAll() }
        negotiations.append(Negotiated(accept: accept))
        return negotiations[negotiations.count - 1]
    }

    /// Reading /proc costs more than a whole scrape, so once a second is enough.
    mutating func readProcess() {
        let now = monotonicTime()
        if let processReadAt, now - processReadAt < .seconds(1) { return }
        processReadAt = now
        report.process = ExporterReport.Process(ProcessStatistics.current())
    }
}

extension ExporterReport.Handler {
    mutating func update(_ statistics: HTTPStatistics) {
        inFlight = statistics.requestsInFlight
        // In place, for each scrape does this.
        requests.removeAll(keepingCapacity: true)
        for answers in statistics.answers { requests.append((answers.status, UInt64(answers.count))) }
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
