/// A run of the page's bytes.
public struct ExpositionBlock: Sendable {
    public let bytes: [UInt8]
    /// Equal numbers mean equal bytes, as long as the page lives.
    public let number: UInt64
}

/// The page as a scrape gets it: the blocks, and behind them the end, which each scrape changes.
public struct RenderedPage: Sendable {
    public let blocks: [ExpositionBlock]
    /// Equal numbers mean equal blocks, as long as the page lives.
    public let number: UInt64
    public let end: [UInt8]

    public var bytes: [UInt8] { blocks.flatMap(\.bytes) + end }
}

/// The page that a scrape gets, kept in blocks between scrapes: only what changed is rendered again.
///
/// The samples of the cities are kept by pages of the store's order and by family. A scrape under a busy feed thus
/// costs the values that changed, and one under a quiet feed next to nothing.
///
/// One caller at a time.
public struct MetricsPage: Sendable {
    private let rules: StoreRules
    private let storeInformation: [FamilySamples]
    private let lineParts = CityFamily.allCases.map(\.lineParts)
    /// The text of the cities, by the numbers of the pages of the store's order.
    private var pages: [CityPageText] = []
    private var updateMemory = CityPageText.UpdateMemory()
    /// Where each city stands, by its number.
    private var places: [Place] = []
    /// The store's when the text of the cities was last updated.
    private var version: UInt64 = 0
    private var lastNumber: UInt64 = 0
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

    /// The blocks that the last scrape got, and what they were made from.
    private struct Rendered: Sendable {
        let version, feedsVersion: UInt64
        let storage: ExporterReport.Storage?
        let build: ExporterReport.Build
        let process: ExporterReport.Process?
        let format: ExpositionFormat
        let blocks: [ExpositionBlock]
        let number: UInt64

        init(
            _ snapshot: StoreSnapshot, _ report: ExporterReport, _ format: ExpositionFormat,
            blocks: [ExpositionBlock], number: UInt64
        ) {
            version = snapshot.version
            feedsVersion = snapshot.feedsVersion
            storage = report.storage
            build = report.build
            process = report.process
            self.format = format
            self.blocks = blocks
            self.number = number
        }

        func isMade(from snapshot: StoreSnapshot, _ report: ExporterReport, _ format: ExpositionFormat) -> Bool {
            version == snapshot.version && feedsVersion == snapshot.feedsVersion && self.format == format
                && storage == report.storage && process == report.process && build == report.build
        }
    }

    public mutating func render(
        _ snapshot: StoreSnapshot, report: ExporterReport, format: ExpositionFormat
    ) -> RenderedPage {
        if format == .protobuf {
            let block = ExpositionBlock(bytes: snapshot.protobuf(rules: rules, report: report), number: nextNumber())
            return RenderedPage(blocks: [block], number: block.number, end: [])
        }
        let end = end(report.handler, format)
        if let last, last.isMade(from: snapshot, report, format) {
            return RenderedPage(blocks: last.blocks, number: last.number, end: end)
        }
        let blocks = blocks(snapshot, report, format)
        let number = nextNumber()
        last = Rendered(snapshot, report, format, blocks: blocks, number: number)
        return RenderedPage(blocks: blocks, number: number, end: end)
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

    private mutating func blocks(
        _ snapshot: StoreSnapshot, _ report: ExporterReport, _ format: ExpositionFormat
    ) -> [ExpositionBlock] {
        // What is written over must not be kept anywhere else, or it is copied first.
        last = nil
        updateCities(snapshot)
        let headers = self.headers(format)
        var blocks: [ExpositionBlock] = []
        blocks.reserveCapacity((snapshot.order.sequence.count + 1) * CityFamily.allCases.count + 4)
        for family in CityFamily.allCases {
            let first = blocks.count
            for page in snapshot.order.sequence {
                let text = pages[Int(page)].families[family.rawValue].text
                guard !text.isEmpty else { continue }
                if blocks.count == first { blocks.append(headers.cityFamilies[family.rawValue]) }
                blocks.append(ExpositionBlock(bytes: text, number: pages[Int(page)].families[family.rawValue].number))
            }
        }
        blocks.append(headers.scale)
        blocks.append(feeds.block(snapshot, format, &lastNumber))
        let counts = [UInt64(snapshot.cityCount), UInt64(snapshot.pointCount), snapshot.expiredCount]
        blocks.append(store.block(counts, format, &lastNumber) { snapshot.storeFamilies(rules: rules) })
        if let values = report.storage {
            blocks.append(storage.block(values, format, &lastNumber) { values.families })
        }
        blocks.append(build.block(report.build, format, &lastNumber) { report.build.families })
        if let values = report.process {
            blocks.append(process.block(values, format, &lastNumber) { values.families })
        }
        return blocks
    }

    /// The text of some families, as long as what they say is the same.
    private struct KeptBlock<Values: Sendable & Equatable>: Sendable {
        private var kept: (values: Values, format: ExpositionFormat, block: ExpositionBlock)?

        mutating func block(
            _ values: Values, _ format: ExpositionFormat, _ lastNumber: inout UInt64, _ families: () -> [FamilySamples]
        ) -> ExpositionBlock {
            if let kept, kept.values == values, kept.format == format { return kept.block }
            var text: [UInt8] = []
            TextExposition.append(families(), format: format, to: &text)
            lastNumber += 1
            let block = ExpositionBlock(bytes: text, number: lastNumber)
            kept = (values, format, block)
            return block
        }
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    private mutating func headers(_ format: ExpositionFormat) -> Headers {
        if let headers = self.headers[format] { return headers }
        let cityFamilies = CityFamily.allCases.map { family in
            var text: [UInt8] = []
            TextExposition.appendHeader(family.family, format: format, to: &text)
            return ExpositionBlock(bytes: text, number: nextNumber())
        }
        var text: [UInt8] = []
        TextExposition.append(storeInformation, format: format, to: &text)
        let headers = Headers(
            cityFamilies: cityFamilies, scale: ExpositionBlock(bytes: text, number: nextNumber()))
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
        while pages.count < snapshot.order.pages.count { pages.append(CityPageText()) }
        // A city that came or went may have another place or none now. Then the page that it is in is rendered anew
        // below, and what was marked instead is written once more as it is.
        snapshot.states.forEach(changedSince: version) { city in
            guard city < places.count else { return }
            pages[Int(places[city].page)].mark(Int(places[city].position))
        }
        for number in snapshot.order.sequence {
            let page = snapshot.order.pages[Int(number)]
            if pages[Int(number)].layoutVersion == page.layoutVersion {
                pages[Int(number)].update(
                    page, snapshot, since: version, parts: lineParts, lastNumber: &lastNumber, memory: &updateMemory)
            } else {
                pages[Int(number)] = CityPageText(
                    page, snapshot, parts: lineParts, lastNumber: &lastNumber, memory: &updateMemory)
                locate(page, number: number)
            }
        }
        for (number, page) in snapshot.order.pages.enumerated() where page.cities.isEmpty {
            pages[number] = CityPageText()
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
