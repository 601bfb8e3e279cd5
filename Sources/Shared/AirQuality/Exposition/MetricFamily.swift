import Bytes

/// Name, type and help of a metric family, with the labels of its series.
///
/// A class, because a scrape would copy the strings of a value more often than it reads them.
public final class MetricFamily: Sendable {
    public enum Kind: String, Sendable {
        case gauge, counter
    }

    /// As in text 0.0.4, a counter's `_total` included.
    public let name: String
    public let kind: Kind
    public let help: String
    public let labels: [String]
    let text: TextExposition.Family

    init(_ name: String, _ kind: Kind, labels: [String], _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        text = TextExposition.Family(name, kind, labels: labels, help)
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

    public init(_ text: String) {
        self.init(Array(text.utf8))
    }
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

/// A source, and the value of the first label of all its samples; nil when there is only one source of the kind.
struct LabelledSource<Source> {
    var label: LabelValue?
    var source: Source
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
    private var block = LastValue<Key, ExpositionBlock>()

    private struct Key: Equatable, Sendable {
        var sources: [Source]
        var format: ExpositionFormat
    }

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
        format.render(families, of: labelled(sources(snapshot)))
    }

    public mutating func block(of snapshot: StoreSnapshot, in format: ExpositionFormat) -> ExpositionBlock {
        let sources = sources(snapshot)
        return block.value(for: Key(sources: sources, format: format)) { [families, labelled] in
            ExpositionBlock(format.render(families, of: labelled(sources)))
        }
    }

    private func labelled(_ sources: [Source]) -> [LabelledSource<Source>] {
        sources.map { LabelledSource(label: label($0), source: $0) }
    }
}

/// A value, kept as long as the key that it was made for is the same.
public struct LastValue<Key: Equatable, Value> {
    private var kept: (key: Key, value: Value)?

    public init() {}

    public mutating func value(for key: Key, make: () -> Value) -> Value {
        if let kept, kept.key == key { return kept.value }
        // First of all, so that the new value can have the memory of the old one.
        kept = nil
        let value = make()
        kept = (key, value)
        return value
    }
}

extension LastValue: Sendable where Key: Sendable, Value: Sendable {}
