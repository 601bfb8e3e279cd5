import AirQuality
import Exposition
import HTTPServer
import HTTPText
import Storage
import Synchronization
import System

/// Answers scrapes, on the thread that asks.
final class MetricsEndpoint: Sendable {
    private let store: ReadingStore
    private let exposition: Exposition
    private let scrapes: HTTPMeter?
    /// Reads the figures that may change while the store does not.
    private let figures: @Sendable () -> Figures
    /// The text of the last figures, because most change less often than they are scraped.
    private let lastFigures = Mutex<(figures: Figures, format: ExpositionFormat, text: [UInt8])?>(nil)
    private let pages: [PageForm: SingleFlight<RenderedPage>]
    /// The last scrape's fields, and what they ask for: scrapers send the same ones each time.
    private let lastForm = Mutex<(accept: String?, encoding: String?, form: PageForm, contentType: String)?>(nil)
    /// Held while a page is rendered: with the most cities and the longest names its text has 42 MB.
    private let rendering = Mutex(())

    /// Figures of the exporter itself; what does not apply is `nil`.
    private struct Figures: Equatable {
        var reload: Reloader.Outcome?
        var listeners: Int?
        var handshakeFailures: Int?
        var storage: StorageStatistics?
        var droppedLines: Int
        var process: ProcessStatistics?
    }

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
        self.scrapes = scrapes
        exposition = Exposition(rules: store.rules, families: families)
        pages = Dictionary(uniqueKeysWithValues: PageForm.all.map { ($0, SingleFlight()) })
        let process = scrapes == nil ? nil : RecentProcess()
        figures = {
            Figures(
                reload: reloader?.outcome, listeners: events?.listenerCount,
                handshakeFailures: handshakes?.count, storage: storage?.statistics,
                droppedLines: LogWriter.standardError.droppedLines, process: process?.current)
        }
    }

    /// All families there are, in the order of the page.
    static let metrics: [MetricFamily] = [
        Exposition.metrics, Reloader.families.map(\.metric), EventHub.families.map(\.metric),
        HandshakeFailures.families.map(\.metric), StorageStatistics.families.map(\.metric),
        LogWriter.families.map(\.metric), BuildVersion.families.map(\.metric), ProcessStatistics.families.map(\.metric),
        HTTPStatistics.families.map(\.metric),
    ].flatMap { $0 }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let (form, contentType) = form(of: request)
        let page = page(in: form)
        let end =
            text(of: figures(), in: form.format)
            + form.format.text(of: HTTPStatistics.families, from: scrapes?.current) + form.format.end.utf8
        var headers: [(name: String, value: String)] = [
            ("Content-Type", contentType), ("Vary", "Accept, Accept-Encoding"),
        ]
        if form.isGzip { headers.append(("Content-Encoding", "gzip")) }
        return HTTPResponse(status: 200, headers: headers, body: .pieces(page.pieces(endingWith: end)))
    }

    private func text(of figures: Figures, in format: ExpositionFormat) -> [UInt8] {
        lastFigures.withLock { last in
            if let last, last.figures == figures, last.format == format { return last.text }
            let parts = [
                format.text(of: Reloader.families, from: figures.reload),
                format.text(of: EventHub.families, from: figures.listeners),
                format.text(of: HandshakeFailures.families, from: figures.handshakeFailures),
                format.text(of: StorageStatistics.families, from: figures.storage),
                format.text(of: LogWriter.families, from: figures.droppedLines),
                format.text(of: BuildVersion.families, from: BuildVersion.labels),
                format.text(of: ProcessStatistics.families, from: figures.process),
            ]
            let text = Array(parts.joined())
            last = (figures, format, text)
            return text
        }
    }

    private func form(of request: HTTPRequest) -> (form: PageForm, contentType: String) {
        let accept = request.header("Accept")
        let encoding = request.header("Accept-Encoding")
        return lastForm.withLock { last in
            if let last, last.accept == accept, last.encoding == encoding { return (last.form, last.contentType) }
            let accepted = AcceptedFormat.negotiate(accept)
            let form = PageForm(format: accepted.format, isGzip: prefersGzip(acceptEncoding: encoding))
            last = (accept, encoding, form, accepted.contentType)
            return (form, accepted.contentType)
        }
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
