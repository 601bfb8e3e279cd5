import Bytes
import Synchronization

/// Name, type and help of a metric family, with the labels of its series.
///
/// A class, because a scrape would copy the strings of a value more often than it reads them.
public final class MetricFamily: Sendable {
    public enum Kind: String, Sendable { case gauge, counter }

    /// As in text 0.0.4, a counter's `_total` included.
    public let name: String
    public let kind: Kind
    public let help: String
    public let labels: [String]
    /// The lines of text above the samples.
    let header, openMetricsHeader: [UInt8]
    /// Text before the value of each label; in a family without labels, before the value of the sample.
    let beforeLabels: [[UInt8]]

    init(_ name: String, _ kind: Kind, labels: [String], _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        header = Array("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8)
        // OpenMetrics names the family of a counter without `_total` and wants the type first.
        let short = kind == .counter ? String(name.dropLast("_total".count)) : name
        openMetricsHeader = Array("# TYPE \(short) \(kind.rawValue)\n# HELP \(short) \(help)\n".utf8)
        let beginnings =
            labels.isEmpty
            ? ["\(name) "] : ["\(name){\(labels[0])=\""] + labels.dropFirst().map { "\",\($0)=\"" }
        beforeLabels = beginnings.map { Array($0.utf8) }
    }
}

/// The value of a label, as the formats write it.
public struct LabelValue: Sendable {
    /// As protobuf has it.
    let bytes: [UInt8]
    /// As the text formats have it.
    let escaped: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        escaped = TextExposition.escaped(bytes.span) ?? bytes
    }

    public init(_ text: String) { self.init(Array(text.utf8)) }
}

public enum SampleValue: Sendable {
    case number(Double)
    /// Shown in seconds, in text with three decimals.
    case time(Timestamp)
}

/// A metric family, and how its samples are read from a source. It is declared beside the figures that it reads.
public struct Family<Source>: Sendable {
    /// Takes the values of a sample's labels, without the source's own, and its value.
    public typealias AddSample = (_ labels: [LabelValue], _ value: SampleValue) -> Void

    public let metric: MetricFamily
    let addSamples: @Sendable (Source, AddSample) -> Void

    /// - Parameter labels: the source's own first, where it has one.
    public init(
        _ name: String, _ kind: MetricFamily.Kind, labels: [String], _ help: String,
        samples: @escaping @Sendable (Source, AddSample) -> Void
    ) {
        metric = MetricFamily(name, kind, labels: labels, help)
        addSamples = samples
    }

    /// One sample of each source; none when the value is nil.
    ///
    /// - Parameter label: the source's own.
    public init(
        _ name: String, _ kind: MetricFamily.Kind, label: String? = nil, _ help: String,
        value: @escaping @Sendable (Source) -> Double?
    ) {
        self.init(name, kind, labels: label.map { [$0] } ?? [], help) { source, add in
            if let value = value(source) { add([], .number(value)) }
        }
    }
}

/// The families of one kind of source.
public protocol FamilyGroup: Sendable {
    func render(_ snapshot: StoreSnapshot, in format: ExpositionFormat) -> [UInt8]
    /// A block of the exposition, the same one while the sources say the same.
    mutating func block(of snapshot: StoreSnapshot, in format: ExpositionFormat) -> ExpositionBlock
}

public struct SourceFamilies<Source: Equatable & Sendable>: FamilyGroup {
    private let families: [Family<Source>]
    private let label: @Sendable (Source) -> LabelValue?
    private let sources: @Sendable (StoreSnapshot) -> [Source]
    private var last: (sources: [Source], format: ExpositionFormat, block: ExpositionBlock)?

    /// - Parameters:
    ///   - label: value of the first label of all samples of a source.
    ///   - sources: asked at each scrape.
    public init(
        _ families: [Family<Source>], label: @escaping @Sendable (Source) -> LabelValue? = { _ in nil },
        of sources: @escaping @Sendable (StoreSnapshot) -> [Source]
    ) {
        self.families = families
        self.label = label
        self.sources = sources
    }

    public func render(_ snapshot: StoreSnapshot, in format: ExpositionFormat) -> [UInt8] {
        format.render(families, of: sources(snapshot), label: label)
    }

    public mutating func block(of snapshot: StoreSnapshot, in format: ExpositionFormat) -> ExpositionBlock {
        let sources = sources(snapshot)
        if let last, last.format == format, last.sources == sources { return last.block }
        let block = ExpositionBlock(format.render(families, of: sources, label: label))
        last = (sources, format, block)
        return block
    }
}

/// The exposition as a scrape gets it.
public struct RenderedExposition: Sendable {
    /// A block that has not changed since the previous exposition is the same object.
    public fileprivate(set) var cities: [ExpositionBlock] = []
    fileprivate(set) var others: [ExpositionBlock] = []
    /// The part that each scrape changes.
    fileprivate(set) var end: [UInt8] = []

    var blocks: [ExpositionBlock] { cities + others }
    public var pieces: [[UInt8]] { cities.map(\.bytes) + [tail] }
    /// All but the cities.
    public var tail: [UInt8] { others.reduce(into: []) { $0 += $1.bytes } + end }
}

/// An immutable part of the exposition. New content always means a new object.
public final class ExpositionBlock: Sendable {
    public let bytes: [UInt8]
    private let derived = Mutex<(any Sendable)?>(nil)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// What its user makes of it, always the same, such as its compressed form; kept as long as the block.
    public func derived<Value: Sendable>(_ make: ([UInt8]) -> Value) -> Value {
        derived.withLock { derived in
            if let value = derived as? Value { return value }
            let value = make(bytes)
            derived = value
            return value
        }
    }
}

/// The part of the exposition that a scrape gets.
public enum MetricsPart: Sendable {
    case all
    /// The families with the label `city`.
    case cities
    /// All others.
    case exporter
}

/// The exposition in blocks that are kept until their content changes.
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
        let families = families.intersection(rules.families)
        cities = CityBlocks(CityFamily.all.filter { families.contains($0.name) })
        let ofStore: [any FamilyGroup] = [
            SourceFamilies(Scale.families) { _ in [rules.scale] },
            SourceFamilies(FeedStatistics.families, label: { LabelValue($0.label) }, of: { $0.feeds }),
            SourceFamilies(StoreStatistics.families) { snapshot in
                [
                    StoreStatistics(
                        cities: snapshot.cityCount, cityLimit: rules.cityLimit, expireAfter: rules.expireAfter,
                        expired: snapshot.expiredCount, points: snapshot.pointCount, capacity: rules.history.capacity,
                        shard: rules.shard)
                ]
            },
        ]
        self.groups = ofStore + groups
        self.last = last
    }

    /// Whether the cities' samples are those of this moment.
    public func isUpToDate(with snapshot: StoreSnapshot) -> Bool { cities.version == snapshot.version }

    /// - Parameter updatesCities: false: their samples are those of the last time. Not in protobuf.
    public mutating func render(
        _ snapshot: StoreSnapshot, format: ExpositionFormat, part: MetricsPart = .all, updatesCities: Bool = true
    ) -> RenderedExposition {
        var page = RenderedExposition()
        if format == .protobuf {
            renderProtobuf(snapshot, part: part) { page.end += $0 }
            return page
        }
        if part != .exporter {
            if updatesCities, !isUpToDate(with: snapshot) { cities.update(to: snapshot) }
            page.cities = cities.blocks(isOpenMetrics: format.isOpenMetrics)
        }
        if part != .cities {
            for place in groups.indices { page.others.append(groups[place].block(of: snapshot, in: format)) }
            page.end = last?.render(snapshot, in: format) ?? []
        }
        page.end += format.end
        return page
    }

    /// The exposition in protobuf, piece by piece. Keeps nothing.
    public func renderProtobuf(_ snapshot: StoreSnapshot, part: MetricsPart, _ body: ([UInt8]) -> Void) {
        if part != .exporter { cities.renderProtobuf(snapshot, body) }
        if part == .cities { return }
        for group in groups { body(group.render(snapshot, in: .protobuf)) }
        if let last { body(last.render(snapshot, in: .protobuf)) }
    }

    /// All families of the cities, the scale, the feeds and the store.
    public static let metrics: [MetricFamily] =
        CityFamily.all.map(\.family.metric) + Scale.families.map(\.metric) + FeedStatistics.families.map(\.metric)
        + StoreStatistics.families.map(\.metric)
}
