/// A metric family, and how its samples are read from a source. Declared next to the numbers it reads. Used for the
/// hundred or so samples of a page that do not belong to a city; ``CityFamily`` writes the others.
public struct Family<Source>: Sendable {
    /// Receives a sample's label values, one per label of the family, and its finite value.
    public typealias AddSample = (_ labels: [String], _ value: Double) -> Void

    public let metric: MetricFamily
    private let addSamples: @Sendable (Source, AddSample) -> Void

    public init(
        _ name: String, _ kind: MetricFamily.Kind, labels: [String], _ help: String,
        samples: @escaping @Sendable (Source, AddSample) -> Void
    ) {
        metric = MetricFamily(name, kind, labels: labels, help)
        addSamples = samples
    }

    /// Creates a family with one sample without labels; none if the value is `nil`.
    public init(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String, value: @escaping @Sendable (Source) -> Double?
    ) {
        self.init(name, kind, labels: [], help) { source, add in
            if let value = value(source) { add([], value) }
        }
    }

    func append(_ source: Source, in format: ExpositionFormat, to page: inout [UInt8]) {
        metric.append(in: format, to: &page) { page in
            addSamples(source) { metric.appendSample($0, $1, to: &page) }
        }
    }
}
