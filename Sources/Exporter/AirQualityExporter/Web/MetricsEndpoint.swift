import AirQuality
import Bytes
import HTTPServer
import Storage
import Synchronization
import System

/// Answers scrapes.
final class MetricsEndpoint: Sendable {
    private let store: ReadingStore
    /// Only the serving thread renders; the lock is for `Sendable`. The store's is not held meanwhile.
    private let caches: Mutex<ScrapeCaches>

    /// - Parameters:
    ///   - families: those of the cities.
    ///   - scrapes: nil leaves out `process_*` and `promhttp_*`.
    ///   - handshakes: nil without TLS.
    ///   - events: nil without listeners.
    init(
        store: ReadingStore, families: Set<CityFamilyName> = Set(CityFamilyName.allCases), scrapes: HTTPMeter?,
        handshakes: HTTPMeter? = nil, storage: StorageFile?, events: EventHub? = nil,
        lastReload: LastReload? = nil
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
        caches = Mutex(
            ScrapeCaches(
                exposition: MetricsExposition(rules: store.rules, families: families, groups: groups, last: last)))
    }

    /// All families there are, in the order of the exposition.
    static let metrics: [MetricFamily] = [
        MetricsExposition.metrics, LastReload.families.map(\.metric), EventHub.families.map(\.metric),
        HTTPStatistics.handshakeFamilies.map(\.metric), StorageStatistics.families.map(\.metric),
        buildFamilies.map(\.metric), ProcessStatistics.families.map(\.metric), HTTPStatistics.families.map(\.metric),
    ].flatMap { $0 }

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
        return caches.withLock { caches in
            let exposition = caches.exposition.render(snapshot, format: accepted.format, part: part)
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
            for (status, count) in statistics.answers.sorted(by: { $0.key < $1.key }) {
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
    private let last = Mutex(LastValue<Int64, ProcessStatistics>())

    var current: ProcessStatistics {
        last.withLock { $0.value(for: monotonicTime().components.seconds, make: ProcessStatistics.current) }
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
