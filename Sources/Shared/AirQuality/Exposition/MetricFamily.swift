import Bytes

/// Name, type and help of a metric family, with the labels of its series.
public struct MetricFamily: Sendable, Equatable {
    public enum Kind: String, Sendable {
        case gauge, counter
    }

    /// As in text 0.0.4, a counter's `_total` included.
    public let name: String
    public let kind: Kind
    public let help: String
    public let labels: [String]
    let text: TextExposition.Family

    init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        text = TextExposition.Family(name, kind, labels: labels, help)
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
        escaped = TextExposition.escaped(bytes.span) ?? bytes
    }

    init(_ text: String) {
        self.init(Array(text.utf8))
    }

    init(_ number: Int) {
        var digits: [UInt8] = []
        digits.appendInteger(UInt64(number))
        (bytes, escaped) = (digits, digits)
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
    let addSamples: @Sendable (Source, AddSample) -> Void

    /// - Parameter labels: the subject's first, where it has one.
    init(
        _ name: String, _ kind: MetricFamily.Kind, labels: [String], _ help: String,
        samples: @escaping @Sendable (Source, AddSample) -> Void
    ) {
        family = MetricFamily(name, kind, labels: labels, help)
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

/// What the samples of a city are read from.
struct CityFigures: Sendable {
    var state: CityState
    var extras: CityExtras
}

/// How `--metrics.families` names the families whose series are the cities'.
public enum CityFamilyName: String, Sendable, CaseIterable {
    case index, category, direction, changed, changes, updated
    /// Without the flag that names their member there are none.
    case concentration, subindex, place
}

/// A family whose series are the cities'. Its samples are simpler than those of others, because there may be a million.
struct CityFamily: Sendable {
    /// What changes the samples of a city.
    enum Change {
        case reading, category
    }

    /// One of the samples of each city.
    struct Sample: Sendable {
        /// Value of the label behind `city`.
        let label: LabelValue?
        /// nil: no sample.
        let value: @Sendable (CityFigures) -> SampleValue?
        let text: TextExposition.CitySample
        /// The labels behind `city` are those of the city's place.
        var hasPlace = false

        /// Values of the labels behind `city`.
        func labels(of figures: CityFigures) -> [LabelValue] {
            hasPlace ? figures.extras.place?.labels ?? [] : label.map { [$0] } ?? []
        }

        fileprivate init(
            of family: MetricFamily, label: LabelValue?, value: @escaping @Sendable (CityFigures) -> SampleValue?
        ) {
            self.label = label
            self.value = value
            text = TextExposition.CitySample(family, label: label)
        }
    }

    let name: CityFamilyName
    let family: MetricFamily
    private(set) var samples: [Sample]
    let change: Change

    /// A sample of each city for each value of another label.
    init(
        _ name: CityFamilyName, _ metric: String, _ kind: MetricFamily.Kind, label: String, _ help: String,
        changes change: Change, values: [(label: String, value: @Sendable (CityFigures) -> SampleValue?)]
    ) {
        let family = MetricFamily(metric, kind, labels: ["city", label], help)
        self.name = name
        self.family = family
        samples = values.map { Sample(of: family, label: LabelValue($0.label), value: $0.value) }
        self.change = change
    }

    /// One sample of each city.
    init(
        _ name: CityFamilyName, _ metric: String, _ kind: MetricFamily.Kind, _ help: String, changes change: Change,
        value: @escaping @Sendable (CityFigures) -> SampleValue?
    ) {
        self.name = name
        family = MetricFamily(metric, kind, labels: ["city"], help)
        samples = [Sample(of: family, label: nil, value: value)]
        self.change = change
    }

    /// A sample, 1, of each city whose place is known.
    init(placesNamed metric: String, _ help: String) {
        family = MetricFamily(metric, .gauge, labels: ["city"] + CityPlace.members, help)
        name = .place
        samples = [Sample(of: family, label: nil) { $0.extras.place.map { _ in .number(1) } }]
        samples[0].hasPlace = true
        change = .reading
    }
}
