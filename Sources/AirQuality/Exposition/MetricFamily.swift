/// Name, type and help of a metric family, with the labels of its series.
public struct MetricFamily: Sendable, Equatable {
    public enum Kind: String, Sendable {
        case gauge, counter
    }

    /// As in text 0.0.4, a counter's `_total` included.
    public var name: String
    public var kind: Kind
    public var help: String
    public var labels: [String]

    init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
    }
}

/// The value of a label, as the formats write it.
struct LabelValue: Sendable {
    /// As protobuf has it.
    let bytes: [UInt8]
    /// As the text formats have it.
    let escaped: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        escaped = TextExposition.escaped(bytes)
    }

    init(_ text: String) {
        self.init(Array(text.utf8))
    }
}

enum SampleValue {
    case number(Double)
    /// Shown in seconds, in text with three decimals.
    case time(Timestamp)
}

/// What samples are read from.
struct Subject<Source> {
    /// Value of the first label of all its samples; nil when there is only one subject of the kind.
    var label: LabelValue?
    var source: Source
}

/// A metric family, and how its samples are read from a source.
struct SourceFamily<Source>: Sendable {
    /// Takes the values of a sample's labels, without the subject's, and its value.
    typealias AddSample = (_ labels: [LabelValue], _ value: SampleValue) -> Void

    let family: MetricFamily
    /// What the text formats write before the value of each label; of a family without labels, before the sample's.
    let textBeforeLabels: [[UInt8]]
    let addSamples: @Sendable (Source, AddSample) -> Void

    /// - Parameter labels: the subject's first, where it has one.
    init(
        _ name: String, _ kind: MetricFamily.Kind, labels: [String], _ help: String,
        samples: @escaping @Sendable (Source, AddSample) -> Void
    ) {
        family = MetricFamily(name, kind, labels: labels, help)
        textBeforeLabels = TextExposition.textBeforeLabels(of: family)
        addSamples = samples
    }

    /// One sample of each subject; none when the value is nil.
    ///
    /// - Parameter label: the subject's.
    init(
        _ name: String, _ kind: MetricFamily.Kind, label: String? = nil, _ help: String,
        value: @escaping @Sendable (Source) -> Double?
    ) {
        self.init(name, kind, labels: label.map { [$0] } ?? [], help) { source, add in
            if let value = value(source) { add([], .number(value)) }
        }
    }
}

/// A family whose series are the cities'.
struct CityFamily: Sendable {
    /// What changes the samples of a city.
    enum Change {
        case reading, category
    }

    /// What the samples are read from.
    enum Samples {
        case state(SourceFamily<CityState>)
        case concentrations(SourceFamily<Concentrations>)
    }

    let samples: Samples
    let change: Change

    var family: MetricFamily {
        switch samples {
        case .state(let samples): samples.family
        case .concentrations(let samples): samples.family
        }
    }

    init(
        _ name: String, _ kind: MetricFamily.Kind, labels: [String] = [], _ help: String, changes change: Change,
        samples: @escaping @Sendable (CityState, SourceFamily<CityState>.AddSample) -> Void
    ) {
        self.samples = .state(SourceFamily(name, kind, labels: ["city"] + labels, help, samples: samples))
        self.change = change
    }

    /// One sample of each city; none when the value is nil.
    init(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String, changes change: Change,
        value: @escaping @Sendable (CityState) -> SampleValue?
    ) {
        self.init(name, kind, help, changes: change) { city, add in
            if let value = value(city) { add([], value) }
        }
    }

    /// Gauges with the city's concentrations; each reading may change them.
    init(
        _ name: String, labels: [String], _ help: String,
        samples: @escaping @Sendable (Concentrations, SourceFamily<Concentrations>.AddSample) -> Void
    ) {
        self.samples = .concentrations(SourceFamily(name, .gauge, labels: ["city"] + labels, help, samples: samples))
        change = .reading
    }
}
