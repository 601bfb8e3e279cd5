import AirQuality
import Bytes
import HTTPServer
import HTTPText
import Storage
import Synchronization
import System

/// Answers scrapes.
final class MetricsEndpoint: Sendable {
    private let store: ReadingStore
    /// Only the serving thread renders text; the lock is for `Sendable`. The store's is not held meanwhile.
    private let caches: Mutex<ScrapeCaches>
    /// For protobuf, which is rendered anew each time.
    private let exposition: MetricsExposition

    /// - Parameters:
    ///   - families: those of the cities.
    ///   - scrapes: nil leaves out `process_*` and `promhttp_*`.
    ///   - handshakes: nil without TLS.
    ///   - events: nil without listeners.
    init(
        store: ReadingStore, families: Set<CityFamilyName> = Set(CityFamilyName.allCases), scrapes: HTTPMeter?,
        handshakes: HTTPMeter? = nil, storage: StorageFile?, events: EventHub? = nil, lastReload: LastReload? = nil
    ) {
        self.store = store
        var groups: [any FamilyGroup] = []
        if let lastReload { groups.append(SourceFamilies(LastReload.families) { _ in [lastReload.current] }) }
        if let events { groups.append(SourceFamilies(EventHub.families) { _ in [events.listenerCount] }) }
        if let handshakes {
            groups.append(
                SourceFamilies(HTTPStatistics.handshakeFamilies) { _ in [handshakes.current.tlsHandshakeFailures] })
        }
        if let storage { groups.append(SourceFamilies(StorageStatistics.families) { _ in [storage.statistics] }) }
        let build = [BuildVersion.version, BuildVersion.revision, BuildVersion.branch, BuildVersion.swift]
        groups.append(SourceFamilies(buildFamilies) { _ in [build] })
        if scrapes != nil {
            let process = RecentProcess()
            groups.append(SourceFamilies(ProcessStatistics.families) { _ in [process.current] })
        }
        let last = scrapes.map { scrapes in SourceFamilies(HTTPStatistics.families) { _ in [scrapes.current] } }
        exposition = MetricsExposition(rules: store.rules, families: families, groups: groups, last: last)
        caches = Mutex(ScrapeCaches(exposition: exposition))
    }

    /// All families there are, in the order of the exposition.
    static let metrics: [MetricFamily] = [
        MetricsExposition.metrics, LastReload.families.map(\.metric), EventHub.families.map(\.metric),
        HTTPStatistics.handshakeFamilies.map(\.metric), StorageStatistics.families.map(\.metric),
        buildFamilies.map(\.metric), ProcessStatistics.families.map(\.metric), HTTPStatistics.families.map(\.metric),
    ].flatMap { $0 }

    /// Whether the response takes too long to make for the serving thread.
    func isSlow(_ request: HTTPRequest) -> Bool {
        AcceptedFormat.negotiate(request.header("Accept")).format == .protobuf
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let part: MetricsPart
        do throws(QueryError) {
            part = try MetricsPart(query: request.query)
        } catch {
            return HTTPResponse(status: 400, line: error.line)
        }
        let accepted = AcceptedFormat.negotiate(request.header("Accept"))
        let isGzip = request.takesGzip
        var headers: [(name: String, value: String)] = [
            ("Content-Type", accepted.contentType), ("Vary", "Accept, Accept-Encoding"),
        ]
        if isGzip { headers.append(("Content-Encoding", "gzip")) }
        let snapshot = store.snapshot()
        guard accepted.format != .protobuf else {
            var pieces: [[UInt8]] = []
            var gzip = Gzip()
            var compressor = GzipCompressor()
            exposition.renderProtobuf(snapshot, part: part) { piece in
                if isGzip { gzip.append(compressor.block(piece.span)) } else { pieces.append(piece) }
            }
            return HTTPResponse(status: 200, headers: headers, body: .pieces(isGzip ? [gzip.member] : pieces))
        }
        let pieces = caches.withLock { $0.render(snapshot, format: accepted.format, part: part, isGzip: isGzip) }
        return HTTPResponse(status: 200, headers: headers, body: .pieces(pieces))
    }
}

/// Results of a scrape that later ones use.
private struct ScrapeCaches: ~Copyable {
    var exposition: MetricsExposition
    var compressor = GzipCompressor()
    /// The cities in compressed form, with the headers of OpenMetrics or of the other formats.
    var gzip: [Bool: Gzip] = [:]
    /// Until then the cities' samples stay as they are.
    var keptUntil = Duration.zero

    /// The cities are brought up to date, unless that ended so short a time ago that it had taken longer: who comes in
    /// the meantime has come, in effect, while it was done. So scrapes take half of the serving thread's time at most,
    /// however many there are and whatever changes.
    mutating func render(
        _ snapshot: StoreSnapshot, format: ExpositionFormat, part: MetricsPart, isGzip: Bool
    ) -> [[UInt8]] {
        let start = monotonicTime()
        let updates = part != .exporter && start >= keptUntil && !exposition.isUpToDate(with: snapshot)
        // First of all, so that the new blocks can have the memory of the old ones.
        if updates { gzip = [:] }
        let page = exposition.render(snapshot, format: format, part: part, updatesCities: updates)
        let compressed = isGzip ? compress(page, format) : (pieces: page.pieces, isNew: false)
        if updates || compressed.isNew {
            let end = monotonicTime()
            keptUntil = end + (end - start)
        }
        return compressed.pieces
    }

    private mutating func compress(
        _ page: RenderedExposition, _ format: ExpositionFormat
    ) -> (pieces: [[UInt8]], isNew: Bool) {
        let tail = page.tail
        if page.cities.reduce(tail.count, { $0 + $1.bytes.count }) <= Self.smallExpositionBytes {
            let whole = page.cities.flatMap(\.bytes) + tail
            return (Gzip().member(endingWith: compressor.block(whole.span)), false)
        }
        if let cities = gzip[format.isOpenMetrics] {
            return (cities.member(endingWith: compressor.block(tail.span)), false)
        }
        var cities = Gzip()
        for block in page.cities { cities.append(block.derived { compressor.block($0.span) }) }
        gzip[format.isOpenMetrics] = cities
        return (cities.member(endingWith: compressor.block(tail.span)), true)
    }

    /// An exposition up to this size is compressed as a whole: that is faster, and it becomes smaller, because its families
    /// repeat each other's names.
    private static let smallExpositionBytes = 64 * 1024
}

extension MetricsPart {
    /// - Parameter query: form-encoded. Each `collect[]` names a part; other parameters mean nothing.
    init(query: String) throws(QueryError) {
        self = .all
        // Nearly all scrapes.
        if query.isEmpty { return }
        let fields = formFields(query, limit: Self.maximumParameters)
        guard fields.count <= Self.maximumParameters else {
            throw QueryError("more than \(Self.maximumParameters) parameters")
        }
        var parts: Set<MetricsPart> = []
        for field in fields where field.name?.elementsEqual("collect[]".utf8) == true {
            switch field.value.map({ String(decoding: $0, as: UTF8.self) }) {
            case "cities": parts.insert(.cities)
            case "exporter": parts.insert(.exporter)
            default: throw QueryError("collect[]", is: field.rawValue, expected: "cities or exporter")
            }
        }
        if parts.count == 1, let part = parts.first { self = part }
    }

    /// Because the serving thread reads them.
    private static let maximumParameters = 16
}

extension HTTPStatistics {
    static let handshakeFamilies: [Family<Int>] = [
        Family(
            "airquality_exporter_tls_handshake_failures_total", .counter,
            "Failed TLS handshakes with HTTP clients."
        ) { Double($0) }
    ]

    static let families: [Family<HTTPStatistics>] = [
        Family(
            "promhttp_metric_handler_requests_in_flight", .gauge, "Current number of scrapes being served."
        ) { Double($0.requestsInFlight) },
        Family(
            "promhttp_metric_handler_requests_total", .counter, labels: ["code"],
            "Total number of scrapes by HTTP status code."
        ) { statistics, add in
            for (status, count) in statistics.responses.sorted(by: { $0.key < $1.key }) {
                add([LabelValue(String(status))], .number(Double(count)))
            }
        },
    ]
}

private let buildFamilies: [Family<[String]>] = [
    Family(
        "airquality_exporter_build_info", .gauge, labels: ["version", "revision", "branch", "swiftversion"],
        "Build information; the value is 1."
    ) { build, add in add(build.map { LabelValue($0) }, .number(1)) }
]

/// The process's figures by the second in which they were read: reading /proc costs more than a whole scrape.
private final class RecentProcess: Sendable {
    private let last = Mutex<(second: Int64, statistics: ProcessStatistics)?>(nil)

    var current: ProcessStatistics {
        last.withLock { last in
            let second = monotonicTime().components.seconds
            if let last, last.second == second { return last.statistics }
            let statistics = ProcessStatistics.current()
            last = (second, statistics)
            return statistics
        }
    }
}

extension ProcessStatistics {
    static let families: [Family<ProcessStatistics>] = [
        Family("process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.") {
            $0.cpuSeconds
        },
        Family("process_heap_bytes", .gauge, "Process heap size in bytes.") { $0.heapBytes.map { Double($0) } },
        Family("process_max_fds", .gauge, "Maximum number of open file descriptors.") {
            $0.maximumFileDescriptors.map { Double($0) }
        },
        Family(
            "process_network_receive_bytes_total", .counter,
            "Bytes received in the network namespace of the process."
        ) { $0.networkReceiveBytes.map { Double($0) } },
        Family(
            "process_network_transmit_bytes_total", .counter, "Bytes sent in the network namespace of the process."
        ) { $0.networkTransmitBytes.map { Double($0) } },
        Family("process_open_fds", .gauge, "Number of open file descriptors.") {
            $0.openFileDescriptors.map { Double($0) }
        },
        Family("process_resident_memory_bytes", .gauge, "Resident memory size in bytes.") {
            $0.residentMemoryBytes.map { Double($0) }
        },
        Family(
            "process_start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds."
        ) { $0.startTime },
        Family("process_threads", .gauge, "Number of OS threads in the process.") { $0.threads.map { Double($0) } },
        Family("process_virtual_memory_bytes", .gauge, "Virtual memory size in bytes.") {
            $0.virtualMemoryBytes.map { Double($0) }
        },
        Family(
            "process_virtual_memory_max_bytes", .gauge, "Maximum amount of virtual memory available in bytes."
        ) { $0.maximumVirtualMemoryBytes.map { Double($0) } },
    ]
}
