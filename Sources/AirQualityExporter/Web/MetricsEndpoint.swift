import AirQuality
import Bytes
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
    ///   - families: those of the cities.
    ///   - scrapes: nil leaves out `process_*` and `promhttp_*`.
    ///   - handshakes: nil without TLS.
    ///   - events: nil without listeners.
    init(
        store: ReadingStore, build: ExporterReport.Build,
        families: Set<CityFamilyName> = Set(CityFamilyName.allCases), scrapes: HTTPMeter?,
        handshakes: HTTPMeter? = nil, storage: StorageService?, events: EventHub? = nil
    ) {
        self.store = store
        self.scrapes = scrapes
        self.handshakes = handshakes
        self.storage = storage
        self.events = events
        caches = Mutex(ScrapeCaches(page: MetricsPage(rules: store.rules, build: build, families: families)))
    }

    func respond(to request: borrowing HTTPRequest) -> HTTPResponse {
        let part: MetricsPart
        do throws(MetricsQueryFailure) {
            part = try MetricsPart(query: request.query)
        } catch {
            return HTTPResponse(status: 400, line: error.line)
        }
        let accepted = AcceptedFormat.negotiate(request.header("Accept"))
        let isGzip = prefersGzip(acceptEncoding: request.header("Accept-Encoding"))
        var headers: [(name: String, value: String)] = [
            ("Content-Type", accepted.contentType), ("Vary", "Accept, Accept-Encoding"),
        ]
        if isGzip { headers.append(("Content-Encoding", "gzip")) }
        let snapshot = store.snapshot()
        return caches.withLock { caches in
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
            let page = caches.page.render(snapshot, report: report, format: accepted.format, part: part)
            return HTTPResponse(
                status: 200, headers: headers,
                body: .blocks(
                    isGzip ? caches.gzip[part.rawValue].member(of: page, with: &caches.compressor) : page.pieces))
        }
    }
}

/// What scrapes leave for the next ones.
private struct ScrapeCaches: ~Copyable {
    var page: MetricsPage
    /// By part, because a cache keeps what the last page had.
    var gzip = InlineArray<3, GzipCache> { _ in GzipCache() }
    var compressor = GzipCompressor()
    /// By the second in which they were read: reading /proc costs more than a whole scrape.
    var process = Cached<Int64, ExporterReport.Process>()

    init(page: MetricsPage) {
        self.page = page
    }
}

extension MetricsPart {
    /// - Parameter query: form-encoded. Each `collect[]` names a part; other parameters mean nothing.
    init(query: String) throws(MetricsQueryFailure) {
        self = .all
        // Nearly all scrapes.
        if query.isEmpty { return }
        var parts: Set<MetricsPart> = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = percentDecoded(halves[0], plusIsBlank: true), name.elementsEqual("collect[]".utf8)
            else { continue }
            let value = halves.count == 2 ? halves[1] : halves[0].prefix(0)
            switch percentDecoded(value, plusIsBlank: true).map({ String(decoding: $0, as: UTF8.self) }) {
            case "cities": parts.insert(.cities)
            case "exporter": parts.insert(.exporter)
            default:
                let text = quoted(String(decoding: Array(value), as: UTF8.self), limit: 64)
                throw MetricsQueryFailure(line: "query: collect[] is \(text), expected cities or exporter")
            }
        }
        if parts.count == 1, let part = parts.first { self = part }
    }
}

/// What was wrong with a query, in one line for the one who asked.
struct MetricsQueryFailure: Error, Equatable {
    var line: String
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

/// The blocks of the page in compressed form, kept as long as the page has them.
private struct GzipCache: ~Copyable {
    private var blocks: [ExpositionBlock] = []
    /// By block; none of a small page.
    private var compressed: [GzipBlock] = []
    /// A member of all of them, without its end.
    private var beginning = Gzip()

    /// The page as one gzip member, in pieces.
    mutating func member(of page: RenderedPage, with compressor: inout GzipCompressor) -> [[UInt8]] {
        if !page.blocks.elementsEqual(blocks, by: ===) { compress(page.blocks, with: &compressor) }
        return beginning.member(endingWith: compressor.block(page.end.span))
    }

    private mutating func compress(_ page: [ExpositionBlock], with compressor: inout GzipCompressor) {
        let known = Dictionary(uniqueKeysWithValues: zip(blocks.map(ObjectIdentifier.init), compressed))
        blocks = page
        if page.reduce(0, { $0 + $1.bytes.count }) <= Self.smallPageBytes {
            let bytes = page.flatMap(\.bytes)
            compressed = []
            beginning = Gzip([compressor.block(bytes.span)])
            return
        }
        compressed.removeAll(keepingCapacity: true)
        for block in page {
            let bytes = block.bytes
            compressed.append(known[ObjectIdentifier(block)] ?? compressor.block(bytes.span))
        }
        beginning = Gzip(compressed)
    }

    /// A page up to this size is compressed as a whole: that is faster, and it becomes smaller, because its families repeat
    /// each other's names.
    private static let smallPageBytes = 64 * 1024
}
