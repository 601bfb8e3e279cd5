import AirQuality
import Exposition
import HTTPServer
import HTTPText
import Storage
import Synchronization
import System

/// Serves scrapes on the calling thread.
final class MetricsEndpoint: Sendable {
    private let store: ReadingStore
    private let exposition: Exposition
    private let scrapes: HTTPMeter?
    private let figures: @Sendable () -> ExporterFigures
    private let lastFigures = Monitor<LastFigures?>(nil)
    /// Maximum size of a text whose memory is kept beside its compressed form.
    private static let keptByteCount = 16 << 20
    /// The last page in each form. Locked during rendering; the largest page has 42 MB of text.
    private let pages = Mutex<[PageForm: RenderedPage]>([:])
    /// The header fields of the last scrape and the form they select: scrapers send the same ones each time.
    private let lastForm = Monitor<(fields: [[UInt8]?], form: PageForm, contentType: String)?>(nil)

    /// The text of the last figures, reused because most change less often than they are scraped.
    private struct LastFigures {
        var figures: ExporterFigures
        var format: ExpositionFormat
        var text: [UInt8]
    }

    private struct RenderedPage {
        var version: UInt64 = 0
        /// Size of the page as text in bytes.
        var textCount = 0
        /// Empty if there is a compressed form.
        var text: [UInt8] = []
        var gzip: Gzip?

        /// Returns the page followed by `end`.
        func pieces(_ end: [UInt8]) -> [[UInt8]] { gzip?.member(endingWith: end) ?? [text, end] }
    }

    /// All families in page order. Those of the store are rendered once for each change of it, others at each scrape.
    static let metrics: [MetricFamily] =
        Exposition.metrics + StorageStatistics.families.map(\.metric) + ExporterFigures.families.map(\.metric)
        + ProcessStatistics.families.map(\.metric) + HTTPStatistics.families.map(\.metric)

    /// - Parameters:
    ///   - scrapes: `nil` leaves out `process_*` and `promhttp_*`.
    ///   - figures: called at each scrape; provides all but `process`.
    init(
        store: ReadingStore, families: [CityFamilyName], scrapes: HTTPMeter?,
        figures: @escaping @Sendable () -> ExporterFigures
    ) {
        self.store = store
        self.scrapes = scrapes
        self.figures = figures
        exposition = Exposition(families: families)
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let (form, contentType) = form(of: request)
        let page = page(in: form)
        let end =
            figures(in: form.format) + form.format.text(of: HTTPStatistics.families, from: scrapes?.current)
            + form.format.end.utf8
        var headers: [(name: String, value: String)] = [
            ("Content-Type", contentType), ("Vary", "Accept, Accept-Encoding"),
        ]
        if form.isGzip { headers.append(("Content-Encoding", "gzip")) }
        return HTTPResponse(status: 200, headers: headers, body: .pieces(page.pieces(end)))
    }

    private func figures(in format: ExpositionFormat) -> [UInt8] {
        var figures = figures()
        figures.second = monotonicTime().components.seconds
        return lastFigures.change { last in
            if scrapes != nil {
                // Once a second at most: reading /proc costs more than a whole scrape.
                let known = last?.figures.second == figures.second ? last?.figures.process : nil
                figures.process = known ?? .current()
            }
            if let last, last.figures == figures, last.format == format { return last.text }
            let text =
                format.text(of: StorageStatistics.families, from: figures.storage)
                + format.text(of: ExporterFigures.families, from: figures)
                + format.text(of: ProcessStatistics.families, from: figures.process)
            last = LastFigures(figures: figures, format: format, text: text)
            return text
        }
    }

    private func form(of request: HTTPRequest) -> (form: PageForm, contentType: String) {
        let accept = request.header("Accept")
        let encoding = request.header("Accept-Encoding")
        let fields = [accept, encoding].map { $0.map { Array($0.utf8) } }
        return lastForm.change { last in
            if let last, last.fields == fields { return (last.form, last.contentType) }
            let accepted = AcceptedFormat.negotiate(accept)
            let form = PageForm(format: accepted.format, isGzip: prefersGzip(acceptEncoding: encoding))
            last = (fields, form, accepted.contentType)
            return (form, accepted.contentType)
        }
    }

    /// Returns a page of the store as it is now or later. Requests during a rendering share the next one.
    private func page(in form: PageForm) -> RenderedPage {
        let version = store.version
        return pages.withLock { pages in
            if let page = pages[form], page.version >= version { return page }
            var page = pages.removeValue(forKey: form) ?? RenderedPage()
            let snapshot = store.snapshot()
            page.version = snapshot.version
            // Reuses the last text's memory unless that is still being sent: fresh memory costs a fifth of the time.
            page.text.removeAll(keepingCapacity: true)
            // A little more than last time, because numbers grow.
            page.text.reserveCapacity(page.textCount + page.textCount / 32)
            exposition.render(snapshot, in: form.format, to: &page.text)
            page.textCount = page.text.count
            if form.isGzip {
                page.gzip = Gzip(page.text)
                page.text.removeAll(keepingCapacity: page.textCount <= Self.keptByteCount)
            }
            pages[form] = page
            return page
        }
    }
}

private struct PageForm: Hashable {
    var format: ExpositionFormat
    var isGzip: Bool
}
