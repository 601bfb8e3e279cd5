/// A metric family, and how its samples are read from a source. It is declared beside the figures that it reads.
///
/// For the hundred or so samples that a page has beside those of cities: ``CityFamily`` writes those.
public struct Family<Source>: Sendable {
    /// Takes the values of a sample's labels, without the source's own, and its value.
    public typealias AddSample = (_ labels: [LabelValue], _ value: SampleValue) -> Void

    public let metric: MetricFamily
    private let addSamples: @Sendable (Source, AddSample) -> Void

    /// - Parameter labels: names of the labels, the source's own first, where it has one.
    public init(
        _ name: String, _ kind: MetricFamily.Kind, labels: [String], _ help: String,
        samples: @escaping @Sendable (Source, AddSample) -> Void
    ) {
        metric = MetricFamily(name, kind, labels: labels, help)
        addSamples = samples
    }

    /// Makes a family with one sample of each source; none when the value is `nil`.
    ///
    /// - Parameter label: name of the source's own label.
    public init(
        _ name: String, _ kind: MetricFamily.Kind, label: String? = nil, _ help: String,
        value: @escaping @Sendable (Source) -> Double?
    ) {
        self.init(name, kind, labels: label.map { [$0] } ?? [], help) { source, add in
            if let value = value(source) { add([], .number(value)) }
        }
    }

    /// Appends the family with a source's samples, or nothing where there are none.
    ///
    /// - Parameter label: value of each source's own label, if it has one.
    func append(
        _ sources: [Source], label: (Source) -> LabelValue?, in format: ExpositionFormat, to page: inout [UInt8]
    ) {
        let start = page.count
        page += metric.header(in: format)
        let end = page.count
        for source in sources {
            let own = label(source)
            addSamples(source) { labels, value in
                let values = (own.map { [$0] } ?? []) + labels
                if values.isEmpty { page += metric.beforeLabels[0] }
                for (before, value) in zip(metric.beforeLabels, values) {
                    page += before
                    page += value.escaped
                }
                if !values.isEmpty { page += "\"} ".utf8 }
                value.append(to: &page)
                page.append(UInt8(ascii: "\n"))
            }
        }
        if page.count == end { page.removeLast(end - start) }
    }
}
