/// A run of the page's bytes.
public struct ExpositionBlock: Sendable {
    public let bytes: [UInt8]
    /// Equal numbers mean equal bytes, as long as the page lives; 0: never seen again.
    public let number: UInt64
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
    private var feeds: (version: UInt64, format: ExpositionFormat, block: ExpositionBlock)?

    public init(rules: StoreRules) {
        self.rules = rules
        storeInformation = rules.scale.families
    }

    private struct Headers: Sendable {
        var cityFamilies: [ExpositionBlock]
        var scale: ExpositionBlock
    }

    public mutating func render(
        _ snapshot: StoreSnapshot, report: ExporterReport, format: ExpositionFormat
    ) -> [ExpositionBlock] {
        if format == .protobuf {
            return [ExpositionBlock(bytes: snapshot.protobuf(rules: rules, report: report), number: 0)]
        }
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
        blocks.append(feedBlock(snapshot, format: format))
        var tail: [UInt8] = []
        tail.reserveCapacity(4096)
        TextExposition.append(snapshot.storeFamilies(rules: rules), format: format, to: &tail)
        TextExposition.append(report.families, format: format, to: &tail)
        if format.isOpenMetrics { tail.append("# EOF\n") }
        blocks.append(ExpositionBlock(bytes: tail, number: 0))
        return blocks
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

    private mutating func feedBlock(_ snapshot: StoreSnapshot, format: ExpositionFormat) -> ExpositionBlock {
        if let feeds, feeds.version == snapshot.feedsVersion, feeds.format == format { return feeds.block }
        var text: [UInt8] = []
        TextExposition.append(snapshot.feedFamilies, format: format, to: &text)
        let block = ExpositionBlock(bytes: text, number: nextNumber())
        feeds = (snapshot.feedsVersion, format, block)
        return block
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
        /// Bytes of `{city="…"} ` for each city.
        var labelCounts: [UInt16] = []
        var lines: InlineArray<6, CityLines> = .init(repeating: CityLines())

        subscript(family: CityFamily) -> CityLines {
            get { lines[family.rawValue] }
            set { lines[family.rawValue] = newValue }
        }
    }

    private mutating func refresh(_ number: Int, _ snapshot: StoreSnapshot) {
        while pages.count <= number { pages.append(PageLines()) }
        let page = snapshot.order.pages[number]
        guard pages[number].layoutVersion == page.layoutVersion else { return renderAll(number, page, snapshot) }
        if pages[number].changesVersion != page.changesVersion {
            let labels = self.labels(page, snapshot)
            for family in [CityFamily.category, .categoryDirection, .categoryChangedAt, .categoryChanges] {
                pages[number][family] = lines(family, page, labels, snapshot)
            }
            pages[number].changesVersion = page.changesVersion
        }
        if pages[number].version != page.version {
            updateReadings(number, page, snapshot)
            pages[number].version = page.version
        }
    }

    private mutating func updateReadings(_ number: Int, _ page: CityPage, _ snapshot: StoreSnapshot) {
        let rendered = pages[number].version
        let labelCounts = pages[number].labelCounts
        let states = snapshot.states
        let isChanged = { (index: Int) in states[Int(page.cities[index])].version > rendered }
        let (indexName, timeName) = (MetricFamily.index.name.utf8.count, MetricFamily.lastUpdateAt.name.utf8.count)
        pages[number].lines[CityFamily.index.rawValue].update(
            number: nextNumber(), isChanged: isChanged, prefixCount: { indexName + Int(labelCounts[$0]) },
            append: { $1.appendNumber(states[Int(page.cities[$0])].index) })
        pages[number].lines[CityFamily.lastUpdateAt.rawValue].update(
            number: nextNumber(), isChanged: isChanged, prefixCount: { timeName + Int(labelCounts[$0]) },
            append: { $1.appendSeconds(states[Int(page.cities[$0])].updatedAt) })
    }

    private mutating func renderAll(_ number: Int, _ page: CityPage, _ snapshot: StoreSnapshot) {
        let labels = self.labels(page, snapshot)
        var lines = PageLines(
            version: page.version, changesVersion: page.changesVersion, layoutVersion: page.layoutVersion,
            labelCounts: labels.map { UInt16($0.count + 3) })
        for family in CityFamily.allCases { lines[family] = self.lines(family, page, labels, snapshot) }
        pages[number] = lines
    }

    /// `{city="…` of each city of a page, without the closing quote, because another label may follow.
    private func labels(_ page: CityPage, _ snapshot: StoreSnapshot) -> [[UInt8]] {
        page.cities.map { city in
            let name = snapshot.names.bytes[snapshot.states[Int(city)].nameRange]
            var label: [UInt8] = []
            label.reserveCapacity(name.count + 8)
            label.append("{city=\"")
            TextExposition.appendEscaped(name, to: &label)
            return label
        }
    }

    private mutating func lines(
        _ family: CityFamily, _ page: CityPage, _ labels: [[UInt8]], _ snapshot: StoreSnapshot
    ) -> CityLines {
        let name = Array(family.family.name.utf8)
        let states = snapshot.states
        let changes = snapshot.changes
        func append(_ index: Int, to text: inout [UInt8], _ value: (inout [UInt8]) -> Void) {
            text.append(contentsOf: name)
            text.append(contentsOf: labels[index])
            text.append("\"} ")
            value(&text)
            text.append(UInt8(ascii: "\n"))
        }
        let sizeHint = labels.reduce(0) { $0 + name.count + $1.count + 24 } * (family == .categoryChanges ? 2 : 1)
        return CityLines(count: page.cities.count, number: nextNumber(), sizeHint: sizeHint) { index, text in
            let city = Int(page.cities[index])
            switch family {
            case .index:
                append(index, to: &text) { $0.appendNumber(states[city].index) }
            case .category:
                append(index, to: &text) { $0.appendInteger(UInt64(states[city].category)) }
            case .categoryDirection:
                append(index, to: &text) { text in
                    let direction = changes[city].direction
                    text.append(direction > 0 ? "1" : direction < 0 ? "-1" : "0")
                }
            case .categoryChangedAt:
                guard let changedAt = changes[city].changedAt else { return }
                append(index, to: &text) { $0.appendSeconds(changedAt) }
            case .categoryChanges:
                for (direction, count) in [("better", changes[city].better), ("worse", changes[city].worse)] {
                    text.append(contentsOf: name)
                    text.append(contentsOf: labels[index])
                    text.append("\",direction=\"")
                    text.append(direction)
                    text.append("\"} ")
                    text.appendInteger(count)
                    text.append(UInt8(ascii: "\n"))
                }
            case .lastUpdateAt:
                append(index, to: &text) { $0.appendSeconds(states[city].updatedAt) }
            }
        }
    }
}

extension ExporterReport {
    /// Everything this says, in the order of the page.
    var families: [FamilySamples] {
        (storage?.families ?? []) + build.families + (process?.families ?? []) + (handler?.families ?? [])
    }
}
