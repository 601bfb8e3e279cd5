import AirQuality
import Exposition
import HTTPServer
import Storage
import Synchronization
import System

/// Answers scrapes, on the thread that asks.
final class MetricsEndpoint: Sendable {
    private let store: ReadingStore
    private let exposition: Exposition
    /// Families whose figures may change while the store does not.
    private let groups: [FamilyGroup]
    private let pages: [PageForm: SingleFlight<RenderedPage>]
    /// Held while a page is rendered: with the most cities and the longest names its text has 42 MB.
    private let rendering = Mutex(())

    /// - Parameters:
    ///   - families: families of cities that are wanted.
    ///   - scrapes: `nil` leaves out `process_*` and `promhttp_*`.
    ///   - handshakes: `nil` without TLS.
    ///   - events: `nil` without listeners.
    init(
        store: ReadingStore, families: Set<CityFamilyName> = Set(CityFamilyName.allCases), scrapes: HTTPMeter?,
        handshakes: HandshakeFailures? = nil, storage: StorageFile? = nil, events: EventHub? = nil,
        reloader: Reloader? = nil
    ) {
        self.store = store
        exposition = Exposition(rules: store.rules, families: families)
        pages = Dictionary(uniqueKeysWithValues: PageForm.all.map { ($0, SingleFlight()) })
        var groups: [FamilyGroup] = []
        if let reloader { groups.append(FamilyGroup(Reloader.families) { reloader.outcome }) }
        if let events { groups.append(FamilyGroup(EventHub.families) { events.listenerCount }) }
        if let handshakes { groups.append(FamilyGroup(HandshakeFailures.families) { handshakes.count }) }
        if let storage { groups.append(FamilyGroup(StorageStatistics.families) { storage.statistics }) }
        groups.append(FamilyGroup(LogWriter.families) { LogWriter.standardError.droppedLines })
        groups.append(FamilyGroup(BuildVersion.families) { BuildVersion.labels })
        if let scrapes {
            let process = RecentProcess()
            groups.append(FamilyGroup(ProcessStatistics.families) { process.current })
            groups.append(FamilyGroup(HTTPStatistics.families) { scrapes.current })
        }
        self.groups = groups
    }

    /// All families there are, in the order of the page.
    static let metrics: [MetricFamily] = [
        Exposition.metrics, Reloader.families.map(\.metric), EventHub.families.map(\.metric),
        HandshakeFailures.families.map(\.metric), StorageStatistics.families.map(\.metric),
        LogWriter.families.map(\.metric), BuildVersion.families.map(\.metric), ProcessStatistics.families.map(\.metric),
        HTTPStatistics.families.map(\.metric),
    ].flatMap { $0 }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let accepted = AcceptedFormat.negotiate(request.header("Accept"))
        let form = PageForm(format: accepted.format, isGzip: request.takesGzip)
        let page = page(in: form)
        var end: [UInt8] = []
        for group in groups { group.append(in: form.format, to: &end) }
        end += form.format.end.utf8
        var headers: [(name: String, value: String)] = [
            ("Content-Type", accepted.contentType), ("Vary", "Accept, Accept-Encoding"),
        ]
        if form.isGzip { headers.append(("Content-Encoding", "gzip")) }
        return HTTPResponse(status: 200, headers: headers, body: .pieces(page.pieces(endingWith: end)))
    }

    /// A page of what the store's version determines, which is that of this moment or a later one.
    private func page(in form: PageForm) -> RenderedPage {
        guard let pages = pages[form] else { preconditionFailure("each form has its pages") }
        if let last = pages.last, last.version == store.version { return last }
        return pages.value { last in
            rendering.withLock { _ in
                let snapshot = store.snapshot()
                if let last, last.version == snapshot.version { return last }
                // A little more than the last time, because numbers grow.
                let capacity = last.map { $0.textCount + $0.textCount / 32 } ?? 0
                let text = exposition.render(snapshot, in: form.format, capacity: capacity)
                return RenderedPage(version: snapshot.version, text: text, isGzip: form.isGzip)
            }
        }
    }
}

/// Form in which a page is kept.
private struct PageForm: Hashable {
    var format: ExpositionFormat
    var isGzip: Bool

    static let all = ExpositionFormat.allCases.flatMap { format in
        [false, true].map { PageForm(format: format, isGzip: $0) }
    }
}
