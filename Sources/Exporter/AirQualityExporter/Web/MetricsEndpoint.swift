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
    private let lastReload: LastReload?
    /// Only the serving thread renders; the lock is for `Sendable`. The store's is not held meanwhile.
    private let caches: Mutex<ScrapeCaches>

    /// - Parameters:
    ///   - families: those of the cities.
    ///   - scrapes: nil leaves out `process_*` and `promhttp_*`.
    ///   - handshakes: nil without TLS.
    ///   - events: nil without listeners.
    init(
        store: ReadingStore, build: ExporterReport.Build,
        families: Set<CityFamilyName> = Set(CityFamilyName.allCases), scrapes: HTTPMeter?,
        handshakes: HTTPMeter? = nil, storage: StorageService?, events: EventHub? = nil,
        lastReload: LastReload? = nil
    ) {
        self.store = store
        self.scrapes = scrapes
        self.handshakes = handshakes
        self.storage = storage
        self.events = events
        self.lastReload = lastReload
        caches = Mutex(
            ScrapeCaches(exposition: MetricsExposition(rules: store.rules, build: build, families: families)))
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let part: MetricsPart
        do throws(QueryError) {
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
                reload: lastReload?.report, storage: storage?.report)
            if let scrapes {
                report.process = caches.process.value(for: monotonicTime().components.seconds) {
                    ExporterReport.Process(ProcessStatistics.current())
                }
                report.handler = ExporterReport.Handler(scrapes.current)
            }
            let exposition = caches.exposition.render(snapshot, report: report, format: accepted.format, part: part)
            return HTTPResponse(
                status: 200, headers: headers,
                body: .pieces(
                    isGzip
                        ? caches.gzip[part.rawValue].member(of: exposition, with: &caches.compressor)
                        : exposition.pieces))
        }
    }
}

/// The caches that a scrape leaves for later ones.
private struct ScrapeCaches: ~Copyable {
    var exposition: MetricsExposition
    /// By part, because a cache keeps what the last exposition had.
    var gzip = InlineArray<3, GzipCache> { _ in GzipCache() }
    var compressor = GzipCompressor()
    /// By the second in which they were read: reading /proc costs more than a whole scrape.
    var process = Cached<Int64, ExporterReport.Process>()

    init(exposition: MetricsExposition) {
        self.exposition = exposition
    }
}

extension MetricsPart {
    /// - Parameter query: form-encoded. Each `collect[]` names a part; other parameters mean nothing.
    init(query: String) throws(QueryError) {
        self = .all
        // Nearly all scrapes.
        if query.isEmpty { return }
        var parts: Set<MetricsPart> = []
        for field in formFields(query) where field.name?.elementsEqual("collect[]".utf8) == true {
            switch field.value.map({ String(decoding: $0, as: UTF8.self) }) {
            case "cities": parts.insert(.cities)
            case "exporter": parts.insert(.exporter)
            default: throw QueryError("collect[]", is: field.rawValue, expected: "cities or exporter")
            }
        }
        if parts.count == 1, let part = parts.first { self = part }
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

/// The blocks of the exposition in compressed form, kept as long as the exposition has them.
private struct GzipCache: ~Copyable {
    private var blocks: [ExpositionBlock] = []
    /// By block; none of a small exposition.
    private var compressed: [GzipBlock] = []
    /// A member of all of them, without its end.
    private var beginning = Gzip()

    /// The exposition as one gzip member, in pieces.
    mutating func member(of exposition: RenderedExposition, with compressor: inout GzipCompressor) -> [[UInt8]] {
        if !exposition.blocks.elementsEqual(blocks, by: ===) { compress(exposition.blocks, with: &compressor) }
        return beginning.member(endingWith: compressor.block(exposition.end.span))
    }

    private mutating func compress(_ exposition: [ExpositionBlock], with compressor: inout GzipCompressor) {
        let known = Dictionary(uniqueKeysWithValues: zip(blocks.map(ObjectIdentifier.init), compressed))
        blocks = exposition
        if exposition.reduce(0, { $0 + $1.bytes.count }) <= Self.smallExpositionBytes {
            let bytes = exposition.flatMap(\.bytes)
            compressed = []
            beginning = Gzip([compressor.block(bytes.span)])
            return
        }
        compressed.removeAll(keepingCapacity: true)
        for block in exposition {
            let bytes = block.bytes
            compressed.append(known[ObjectIdentifier(block)] ?? compressor.block(bytes.span))
        }
        beginning = Gzip(compressed)
    }

    /// An exposition up to this size is compressed as a whole: that is faster, and it becomes smaller, because its families
    /// repeat each other's names.
    private static let smallExpositionBytes = 64 * 1024
}
