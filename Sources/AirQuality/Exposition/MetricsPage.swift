/// The page as a scrape gets it, in texts one after the other. The last one is the end, which each scrape changes.
///
/// To be let go before the next one is rendered, or that one copies what it changes.
public struct RenderedPage: Sendable {
    public let texts: [[UInt8]]
    /// Of each text but the end. Equal numbers mean equal bytes, as long as the ``MetricsPage`` lives.
    public let numbers: [UInt64]
    /// Equal numbers mean that all but the end are equal, as long as the ``MetricsPage`` lives.
    public let number: UInt64

    /// All but the end.
    public var beginning: ArraySlice<[UInt8]> { texts.dropLast() }
    public var end: [UInt8] { texts[texts.count - 1] }
    public var bytes: [UInt8] { texts.flatMap(\.self) }
}

/// A run of the page's bytes.
struct ExpositionBlock: Sendable {
    let bytes: [UInt8]
    /// Equal numbers mean equal bytes.
    let number: UInt64
}

/// The page that a scrape gets, kept between scrapes: only what changed is rendered again.
///
/// The samples of the cities are kept by pages of the store's order and by family. A scrape under a busy feed thus
/// costs the values that changed, and one under a quiet feed next to nothing.
///
/// One caller at a time.
public struct MetricsPage: Sendable {
    private let rules: StoreRules
    private let storeInformation: [FamilySamples]
    private let lineParts = CityFamily.allCases.map(\.lineParts)
    private var texts = PageTexts()
    /// The lines of the cities, by the numbers of the pages of the store's order.
    private var pages: [CityPageLines] = []
    private var updateMemory = CityPageLines.UpdateMemory()
    /// Where each city stands, by its number.
    private var places: [Place] = []
    /// The store's when the text of the cities was last updated.
    private var version: UInt64 = 0
    /// The same for every scrape, by format.
    private var headers: [ExpositionFormat: Headers] = [:]
    private var feeds = KeptFeedLines()
    private var store = KeptBlock<[UInt64]>()
    private var storage = KeptBlock<ExporterReport.Storage>()
    private var build = KeptBlock<ExporterReport.Build>()
    private var process = KeptBlock<ExporterReport.Process>()
    private var handler: (lines: KeptLines, codes: [Int]) = (KeptLines(), [])
    private var last: Rendered?

    public init(rules: StoreRules) {
        self.rules = rules
        storeInformation = rules.scale.families
    }

    private struct Headers: Sendable {
        var cityFamilies: [ExpositionBlock]
        var scale: ExpositionBlock
    }

    /// What the texts were last made from.
    private struct Rendered: Sendable {
        let version, feedsVersion: UInt64
        let storage: ExporterReport.Storage?
        let build: ExporterReport.Build
        let process: ExporterReport.Process?
        let format: ExpositionFormat
        let number: UInt64

        init(
            _ snapshot: StoreSnapshot, _ report: ExporterReport, _ format: ExpositionFormat, number: UInt64
        ) {
            version = snapshot.version
            feedsVersion = snapshot.feedsVersion
            storage = report.storage
            build = report.build
            process = report.process
            self.format = format
            self.number = number
        }

        func number(
            ifMadeFrom snapshot: StoreSnapshot, _ report: ExporterReport, _ format: ExpositionFormat
        ) -> UInt64? {
            let isSame =
                version == snapshot.version && feedsVersion == snapshot.feedsVersion && self.format == format
                && storage == report.storage && process == report.process && build == report.build
            return isSame ? number : nil
        }
    }

    public mutating func render(
        _ snapshot: StoreSnapshot, report: ExporterReport, format: ExpositionFormat
    ) -> RenderedPage {
        if format == .protobuf {
            let number = texts.nextNumber()
            return RenderedPage(
                texts: [snapshot.protobuf(rules: rules, report: report), []], numbers: [number], number: number)
        }
        let number = update(snapshot, report, format)
        texts.set(end: end(report.handler, format))
        return RenderedPage(texts: texts.texts, numbers: texts.numbers, number: number)
    }

    /// Brings all but the end to what the snapshot and the report say.
    ///
    /// - Returns: the page's number.
    private mutating func update(
        _ snapshot: StoreSnapshot, _ report: ExporterReport, _ format: ExpositionFormat
    ) -> UInt64 {
        if let number = last?.number(ifMadeFrom: snapshot, report, format) { return number }
        updateCities(snapshot)
        let headers = headers(format)
        texts.set(headers: headers.cityFamilies, rest: [headers.scale] + rest(snapshot, report, format))
        let number = texts.nextNumber()
        last = Rendered(snapshot, report, format, number: number)
        return number
    }

    /// The scrapes' own counts, and the mark that OpenMetrics ends with. Every scrape counts itself, so the numbers are
    /// never the same.
    private mutating func end(_ handler: ExporterReport.Handler?, _ format: ExpositionFormat) -> [UInt8] {
        var end: [UInt8] = []
        if let handler {
            if !self.handler.codes.elementsEqual(handler.requests.lazy.map(\.code)) {
                self.handler = (KeptLines(), handler.requests.map(\.code))
            }
            self.handler.lines.append(
                to: &end, format: format,
                value: { $0 == 0 ? Double(handler.inFlight) : Double(handler.requests[$0 - 1].count) },
                families: { handler.families })
        }
        if format.isOpenMetrics { end.append("# EOF\n") }
        return end
    }

    /// What follows the cities and the scale.
    private mutating func rest(
        _ snapshot: StoreSnapshot, _ report: ExporterReport, _ format: ExpositionFormat
    ) -> [ExpositionBlock] {
        var blocks = [feeds.block(snapshot, format, number: texts.nextNumber())]
        let counts = [UInt64(snapshot.cityCount), UInt64(snapshot.pointCount), snapshot.expiredCount]
        blocks.append(store.block(counts, format, number: texts.nextNumber()) { snapshot.storeFamilies(rules: rules) })
        if let values = report.storage {
            blocks.append(storage.block(values, format, number: texts.nextNumber()) { values.families })
        }
        blocks.append(build.block(report.build, format, number: texts.nextNumber()) { report.build.families })
        if let values = report.process {
            blocks.append(process.block(values, format, number: texts.nextNumber()) { values.families })
        }
        return blocks
    }

    /// The text of some families, as long as what they say is the same.
    private struct KeptBlock<Values: Sendable & Equatable>: Sendable {
        private var kept: (values: Values, format: ExpositionFormat, block: ExpositionBlock)?

        /// - Parameter number: the block's, if it is a new one.
        mutating func block(
            _ values: Values, _ format: ExpositionFormat, number: UInt64, _ families: () -> [FamilySamples]
        ) -> ExpositionBlock {
            if let kept, kept.values == values, kept.format == format { return kept.block }
            var text: [UInt8] = []
            TextExposition.append(families(), format: format, to: &text)
            let block = ExpositionBlock(bytes: text, number: number)
            kept = (values, format, block)
            return block
        }
    }

    private mutating func headers(_ format: ExpositionFormat) -> Headers {
        if let headers = self.headers[format] { return headers }
        let cityFamilies = CityFamily.allCases.map { family in
            var text: [UInt8] = []
            TextExposition.appendHeader(family.family, format: format, to: &text)
            return ExpositionBlock(bytes: text, number: texts.nextNumber())
        }
        var text: [UInt8] = []
        TextExposition.append(storeInformation, format: format, to: &text)
        let headers = Headers(
            cityFamilies: cityFamilies, scale: ExpositionBlock(bytes: text, number: texts.nextNumber()))
        self.headers[format] = headers
        return headers
    }

    // MARK: Cities

    private struct Place: Sendable {
        var page: UInt32 = 0
        var position: UInt32 = 0
    }

    /// Brings the text of the cities to what the snapshot says.
    private mutating func updateCities(_ snapshot: StoreSnapshot) {
        while pages.count < snapshot.order.pages.count { pages.append(CityPageLines()) }
        // A city that came or went may have another place or none now. Then the page that it is in is rendered anew
        // below, and what was marked instead is written once more as it is.
        snapshot.states.forEach(changedSince: version) { city in
            guard city < places.count else { return }
            pages[Int(places[city].page)].mark(Int(places[city].position))
        }
        texts.arrange(snapshot.order.sequence)
        for (place, number) in snapshot.order.sequence.enumerated() {
            let page = snapshot.order.pages[Int(number)]
            if pages[Int(number)].layoutVersion == page.layoutVersion {
                pages[Int(number)].update(
                    page, at: place, snapshot, since: version, parts: lineParts, texts: &texts, memory: &updateMemory)
            } else {
                pages[Int(number)] = CityPageLines(
                    page, at: place, snapshot, parts: lineParts, texts: &texts, memory: &updateMemory)
                locate(page, number: number)
            }
        }
        for (number, page) in snapshot.order.pages.enumerated() where page.cities.isEmpty {
            pages[number] = CityPageLines()
        }
        version = snapshot.version
    }

    private mutating func locate(_ page: CityPage, number: UInt32) {
        for (position, city) in page.cities.enumerated() {
            while places.count <= Int(city) { places.append(Place()) }
            places[Int(city)] = Place(page: number, position: UInt32(position))
        }
    }
}

extension ExporterReport {
    /// Everything this says, in the order of the page.
    var families: [FamilySamples] {
        (storage?.families ?? []) + build.families + (process?.families ?? []) + (handler?.families ?? [])
    }
}
