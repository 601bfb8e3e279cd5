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
    private var pages: [PageLines] = []
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
        for page in snapshot.order.sequence { refresh(Int(page), snapshot) }
        let headers = self.headers(format)
        var blocks: [ExpositionBlock] = []
        blocks.reserveCapacity((snapshot.order.sequence.count + 1) * CityFamily.allCases.count + 4)
        for family in CityFamily.allCases {
            let first = blocks.count
            for page in snapshot.order.sequence {
                let lines = pages[Int(page)][family]
                guard !lines.text.isEmpty else { continue }
                if blocks.count == first { blocks.append(headers.cityFamilies[family.rawValue]) }
                blocks.append(ExpositionBlock(bytes: lines.text, number: lines.number))
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

    // MARK: Pages of cities

    private enum CityFamily: Int, CaseIterable {
        case index, category, categoryDirection, categoryChangedAt, categoryChanges, lastUpdateAt

        var family: MetricFamily {
            switch self {
            case .index: .index
            case .category: .category
            case .categoryDirection: .categoryDirection
            case .categoryChangedAt: .categoryChangedAt
            case .categoryChanges: .categoryChanges
            case .lastUpdateAt: .lastUpdateAt
            }
        }
    }

    /// The samples of the cities of one page.
    private struct PageLines: Sendable {
        var version: UInt64 = 0
        var changesVersion: UInt64 = 0
        var layoutVersion: UInt64 = 0
        var labels = Labels()
        var lines: InlineArray<6, CityLines> = .init(repeating: CityLines())

        subscript(family: CityFamily) -> CityLines {
            get { lines[family.rawValue] }
            set { lines[family.rawValue] = newValue }
        }
    }

    /// The escaped names of a page's cities, one behind the other.
    private struct Labels: Sendable {
        var bytes: [UInt8] = []
        /// Where each ends.
        var ends: [UInt32] = []

        subscript(index: Int) -> ArraySlice<UInt8> {
            bytes[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])]
        }
    }

    private mutating func refresh(_ number: Int, _ snapshot: StoreSnapshot) {
        while pages.count <= number { pages.append(PageLines()) }
        let page = snapshot.order.pages[number]
        guard pages[number].layoutVersion == page.layoutVersion else { return renderAll(number, page, snapshot) }
        if pages[number].changesVersion != page.changesVersion {
            let rendered = pages[number].changesVersion
            for family in [CityFamily.category, .categoryDirection, .categoryChangedAt, .categoryChanges] {
                update(family, number, page, snapshot) { snapshot.changes[$0].version > rendered }
            }
            pages[number].changesVersion = page.changesVersion
        }
        if pages[number].version != page.version {
            let rendered = pages[number].version
            for family in [CityFamily.index, .lastUpdateAt] {
                update(family, number, page, snapshot) { snapshot.states[$0].version > rendered }
            }
            pages[number].version = page.version
        }
    }

    private mutating func update(
        _ family: CityFamily, _ number: Int, _ page: CityPage, _ snapshot: StoreSnapshot,
        isChanged: (_ city: Int) -> Bool
    ) {
        // Taken out while it changes, because the labels are beside it.
        var lines = CityLines()
        swap(&lines, &pages[number].lines[family.rawValue])
        let labels = pages[number].labels
        lines.update(
            number: nextNumber(), isChanged: { isChanged(Int(page.cities[$0])) },
            append: { Self.append(family, Int(page.cities[$0]), labels[$0], snapshot, to: &$1) })
        swap(&lines, &pages[number].lines[family.rawValue])
    }

    private mutating func renderAll(_ number: Int, _ page: CityPage, _ snapshot: StoreSnapshot) {
        var rendered = PageLines(
            version: page.version, changesVersion: page.changesVersion, layoutVersion: page.layoutVersion)
        for city in page.cities {
            let name = snapshot.names.bytes[snapshot.states[Int(city)].nameRange]
            TextExposition.appendEscaped(name, to: &rendered.labels.bytes)
            rendered.labels.ends.append(UInt32(rendered.labels.bytes.count))
        }
        let labels = rendered.labels
        for family in CityFamily.allCases {
            // Name, label, punctuation and a value of a usual length; twice that where a city has two samples.
            let sizeHint =
                (labels.bytes.count + page.cities.count * (family.family.name.utf8.count + 28))
                * (family == .categoryChanges ? 2 : 1)
            rendered[family] = CityLines(count: page.cities.count, number: nextNumber(), sizeHint: sizeHint) {
                Self.append(family, Int(page.cities[$0]), labels[$0], snapshot, to: &$1)
            }
        }
        pages[number] = rendered
    }

    /// The samples of a city.
    ///
    /// - Parameter label: its escaped name.
    private static func append(
        _ family: CityFamily, _ city: Int, _ label: ArraySlice<UInt8>, _ snapshot: StoreSnapshot,
        to text: inout [UInt8]
    ) {
        switch family {
        case .index:
            text.append("airquality_index{city=\"")
            text.append(contentsOf: label)
            text.append("\"} ")
            text.appendNumber(snapshot.states[city].index)
        case .category:
            text.append("airquality_category{city=\"")
            text.append(contentsOf: label)
            text.append("\"} ")
            text.append(UInt8(ascii: "0") + snapshot.states[city].category)
        case .categoryDirection:
            text.append("airquality_category_direction{city=\"")
            text.append(contentsOf: label)
            let direction = snapshot.changes[city].direction
            text.append(direction > 0 ? "\"} 1" : direction < 0 ? "\"} -1" : "\"} 0")
        case .categoryChangedAt:
            guard let changedAt = snapshot.changes[city].changedAt else { return }
            text.append("airquality_category_changed_timestamp_seconds{city=\"")
            text.append(contentsOf: label)
            text.append("\"} ")
            text.appendSeconds(changedAt)
        case .categoryChanges:
            text.append("airquality_category_changes_total{city=\"")
            text.append(contentsOf: label)
            text.append("\",direction=\"better\"} ")
            text.appendInteger(snapshot.changes[city].better)
            text.append("\nairquality_category_changes_total{city=\"")
            text.append(contentsOf: label)
            text.append("\",direction=\"worse\"} ")
            text.appendInteger(snapshot.changes[city].worse)
        case .lastUpdateAt:
            text.append("airquality_last_update_timestamp_seconds{city=\"")
            text.append(contentsOf: label)
            text.append("\"} ")
            text.appendSeconds(snapshot.states[city].updatedAt)
        }
        text.append(UInt8(ascii: "\n"))
    }
}

extension ExporterReport {
    /// Everything this says, in the order of the page.
    var families: [FamilySamples] {
        (storage?.families ?? []) + build.families + (process?.families ?? []) + (handler?.families ?? [])
    }
}
