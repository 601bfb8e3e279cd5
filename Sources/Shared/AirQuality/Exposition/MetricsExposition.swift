import Bytes

/// The exposition as a scrape gets it: its blocks, and the end, which each scrape changes.
public struct RenderedExposition: Sendable {
    /// A block that has not changed since the previous exposition is the same object.
    public let blocks: [ExpositionBlock]
    public let end: [UInt8]

    public var pieces: [[UInt8]] {
        var pieces = blocks.map(\.bytes)
        pieces.append(end)
        return pieces
    }
}

/// The part of the exposition that a scrape gets.
public enum MetricsPart: Int, Sendable, CaseIterable {
    case all
    /// The families with the label `city`.
    case cities
    /// All others.
    case exporter
}

/// What scrapes get, in blocks that are kept as long as they say the same.
///
/// One caller at a time.
public struct MetricsExposition: Sendable {
    private let rules: StoreRules
    private let build: ExporterReport.Build
    private var cities: CityBlocks
    private var scale = GroupBlock(SourceFamily<Scale>.scale)
    private var feeds = GroupBlock(SourceFamily<FeedStatistics>.feeds)
    private var reload = GroupBlock(SourceFamily<ExporterReport.Reload>.reload)
    private var web = GroupBlock(SourceFamily<ExporterReport.Web>.web)
    private var store = GroupBlock(SourceFamily<StoreFigures>.store)
    private var storage = GroupBlock(SourceFamily<ExporterReport.Storage>.storage)
    private var buildInformation = GroupBlock(SourceFamily<ExporterReport.Build>.build)
    private var process = GroupBlock(SourceFamily<ExporterReport.Process>.process)

    /// - Parameter families: those of the cities.
    public init(
        rules: StoreRules, build: ExporterReport.Build, families: Set<CityFamilyName> = Set(CityFamilyName.allCases)
    ) {
        self.rules = rules
        self.build = build
        // A family of what no reading comes with would have no samples, and cost a look at each city.
        let known: [CityFamilyName: Bool] = [
            .concentration: rules.readingsHaveConcentrations, .subindex: rules.readingsHaveSubIndices,
            .place: rules.readingsHavePlaces,
        ]
        cities = CityBlocks(CityFamily.all.filter { families.contains($0.name) && known[$0.name] ?? true })
    }

    public mutating func render(
        _ snapshot: StoreSnapshot, report: ExporterReport, format: ExpositionFormat, part: MetricsPart = .all
    ) -> RenderedExposition {
        var blocks = part == .exporter ? [] : cities.blocks(of: snapshot, in: format)
        guard part != .cities else { return RenderedExposition(blocks: blocks, end: end(nil, format)) }
        blocks.append(scale.block(of: [rules.scale], in: format))
        blocks.append(feeds.block(of: snapshot.feeds, in: format) { LabelValue($0.label) })
        if let report = report.reload { blocks.append(reload.block(of: [report], in: format)) }
        if let report = report.web { blocks.append(web.block(of: [report], in: format)) }
        blocks.append(store.block(of: [StoreFigures(snapshot, rules: rules)], in: format))
        if let report = report.storage { blocks.append(storage.block(of: [report], in: format)) }
        blocks.append(buildInformation.block(of: [build], in: format))
        if let report = report.process { blocks.append(process.block(of: [report], in: format)) }
        return RenderedExposition(blocks: blocks, end: end(report.handler, format))
    }

    /// The scrapes' own counts, and the mark that OpenMetrics ends with.
    private func end(_ handler: ExporterReport.Handler?, _ format: ExpositionFormat) -> [UInt8] {
        var end: [UInt8] = []
        end.reserveCapacity(1024)
        if let handler { format.append(SourceFamily.handler, of: [Subject(source: handler)], to: &end) }
        if format.isOpenMetrics { end.append("# EOF\n") }
        return end
    }
}

/// The families of one kind of source as a single block, rebuilt when a value of a source changes.
private struct GroupBlock<Source: Equatable & Sendable>: Sendable {
    private let families: [SourceFamily<Source>]
    private var block = Cached<Key, ExpositionBlock>()

    private struct Key: Equatable, Sendable {
        var sources: [Source]
        var format: ExpositionFormat
    }

    init(_ families: [SourceFamily<Source>]) {
        self.families = families
    }

    mutating func block(
        of sources: [Source], in format: ExpositionFormat, label: (Source) -> LabelValue? = { _ in nil }
    ) -> ExpositionBlock {
        block.value(for: Key(sources: sources, format: format)) { [families] in
            var bytes: [UInt8] = []
            format.append(families, of: sources.map { Subject(label: label($0), source: $0) }, to: &bytes)
            return ExpositionBlock(bytes)
        }
    }
}

/// A value, kept as long as the key that it was made for is the same.
public struct Cached<Key: Equatable, Value> {
    @usableFromInline var kept: (key: Key, value: Value)?

    public init() {}

    // Inlinable, so that it is specialized for the types of other rooms too: every scrape calls it.
    @inlinable
    public mutating func value(for key: Key, make: () -> Value) -> Value {
        if let kept, kept.key == key { return kept.value }
        // First of all, so that the new value can have the memory of the old one.
        kept = nil
        let value = make()
        kept = (key, value)
        return value
    }
}

extension Cached: Sendable where Key: Sendable, Value: Sendable {}
