/// The exposition as a scrape gets it: its blocks, and the end, which each scrape changes.
public struct RenderedExposition: Sendable {
    /// A block that has not changed since the previous exposition is the same object.
    public let blocks: [ExpositionBlock]
    public let end: [UInt8]

    public var pieces: [[UInt8]] { blocks.map(\.bytes) + [end] }
}

/// An immutable part of the exposition. New content always means a new object, so a cache can use the block's
/// identity as its key.
public final class ExpositionBlock: Sendable {
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
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
    private var cities: CityBlocks
    private var groups: [any FamilyGroup]
    private let last: (any FamilyGroup)?

    /// - Parameters:
    ///   - families: those of the cities.
    ///   - groups: come behind those of the store.
    ///   - last: comes behind all others and is rendered anew each time.
    public init(
        rules: StoreRules, families: Set<CityFamilyName> = Set(CityFamilyName.allCases),
        groups: [any FamilyGroup] = [], last: (any FamilyGroup)? = nil
    ) {
        // A family of what no reading comes with would have no samples, and cost a look at each city.
        let known: [CityFamilyName: Bool] = [
            .concentration: rules.readingsHaveConcentrations, .subindex: rules.readingsHaveSubIndices,
            .place: rules.readingsHavePlaces,
        ]
        cities = CityBlocks(CityFamily.all.filter { families.contains($0.name) && known[$0.name] ?? true })
        let ofStore: [any FamilyGroup] = [
            SourceFamilies(Scale.families) { _ in [rules.scale] },
            SourceFamilies(FeedStatistics.families, label: { LabelValue($0.label) }, of: { $0.feeds }),
            SourceFamilies(StoreStatistics.families) { [StoreStatistics($0, rules: rules)] },
        ]
        self.groups = ofStore + groups
        self.last = last
    }

    public mutating func render(
        _ snapshot: StoreSnapshot, format: ExpositionFormat, part: MetricsPart = .all
    ) -> RenderedExposition {
        var blocks = part == .exporter ? [] : cities.blocks(of: snapshot, in: format)
        var end: [UInt8] = []
        if part != .cities {
            for place in groups.indices { blocks.append(groups[place].block(of: snapshot, in: format)) }
            end = last?.render(snapshot, in: format) ?? []
        }
        return RenderedExposition(blocks: blocks, end: end + format.end)
    }

    /// All families of the cities, the scale, the feeds and the store.
    public static let metrics: [MetricFamily] =
        CityFamily.all.map(\.family.metric) + Scale.families.map(\.metric) + FeedStatistics.families.map(\.metric)
        + StoreStatistics.families.map(\.metric)
}
