import AirQuality
import Synchronization
import Transport

/// Answers scrapes.
final class MetricsEndpoint: Sendable {
    private let store: ReadingStore
    private let build: ExporterReport.Build
    private let scrapes: ScrapeCounts?
    private let storage: StorageService?
    /// What is kept from scrape to scrape. This lock is held while rendering, so that scrapes at the same time share
    /// one rendering; the store's is not.
    private let kept: Mutex<KeptPage>

    /// - Parameters:
    ///   - scrapes: nil leaves out `process_*` and `promhttp_*`.
    init(store: ReadingStore, build: ExporterReport.Build, scrapes: ScrapeCounts?, storage: StorageService?) {
        self.store = store
        self.build = build
        self.scrapes = scrapes
        self.storage = storage
        kept = Mutex(KeptPage(page: MetricsPage(rules: store.rules)))
    }

    func respond(to request: borrowing HTTPRequest) -> HTTPResponse {
        let accept = request.header("Accept")
        let isGzip = prefersGzip(acceptEncoding: request.header("Accept-Encoding"))
        let snapshot = store.snapshot()
        return kept.withLock { kept in
            let accepted = kept.format(accept)
            let blocks = kept.page.render(snapshot, report: report(&kept), format: accepted.format)
            var headers: [(name: String, value: String)] = [
                ("Content-Type", accepted.contentType), ("Vary", "Accept, Accept-Encoding"),
            ]
            guard isGzip else {
                return HTTPResponse(status: 200, headers: headers, body: .blocks(blocks.map(\.bytes)))
            }
            headers.append(("Content-Encoding", "gzip"))
            return HTTPResponse(status: 200, headers: headers, body: .blocks(kept.compressed.member(of: blocks)))
        }
    }

    private func report(_ kept: inout KeptPage) -> ExporterReport {
        var report = ExporterReport(build: build, storage: storage?.report)
        if let scrapes {
            report.process = kept.processReport()
            report.handler = scrapes.report
        }
        return report
    }
}

/// What scrapes leave for the next ones.
private struct KeptPage {
    var page: MetricsPage
    var compressed = CompressedBlocks()
    private var formats: [String: AcceptedFormat] = [:]
    private var process: (readAt: Duration, report: ExporterReport.Process)?

    init(page: MetricsPage) {
        self.page = page
    }

    /// How many different headers are remembered.
    private static let maximumFormats = 64

    mutating func format(_ accept: String?) -> AcceptedFormat {
        let key = accept ?? ""
        if let known = formats[key] { return known }
        let negotiated = AcceptedFormat.negotiate(accept)
        if formats.count >= Self.maximumFormats { formats.removeAll() }
        formats[key] = negotiated
        return negotiated
    }

    /// Reading /proc costs more than a whole scrape, so once a second is enough.
    mutating func processReport() -> ExporterReport.Process {
        let now = monotonicTime()
        if let process, now - process.readAt < .seconds(1) { return process.report }
        let report = ExporterReport.Process(ProcessStatistics.current())
        process = (now, report)
        return report
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
