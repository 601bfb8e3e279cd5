/// A metric family with its samples, for a program that has a few of them and renders them at each scrape.
public struct PlainFamily: Sendable {
    let family: MetricFamily
    let samples: [(labels: [LabelValue], value: Double)]

    /// One sample; none when the value is nil.
    public init(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Double?) {
        family = MetricFamily(name, kind, help)
        samples = value.map { [([], $0)] } ?? []
    }

    /// A sample for each value of a label.
    public init(_ name: String, _ kind: MetricFamily.Kind, label: String, _ help: String, _ samples: [(String, Double)])
    {
        family = MetricFamily(name, kind, labels: [label], help)
        self.samples = samples.map { ([LabelValue($0.0)], $0.1) }
    }
}

extension ExpositionFormat {
    public func render(_ families: [PlainFamily]) -> [UInt8] {
        var bytes: [UInt8] = []
        for plain in families {
            let source = SourceFamily<PlainFamily>(plain)
            append([source], of: [Subject(source: plain)], to: &bytes)
        }
        if isOpenMetrics { bytes += "# EOF\n".utf8 }
        return bytes
    }
}

extension SourceFamily<PlainFamily> {
    fileprivate init(_ plain: PlainFamily) {
        self.init(plain.family.name, plain.family.kind, labels: plain.family.labels, plain.family.help) { source, add in
            for (labels, value) in source.samples { add(labels, .number(value)) }
        }
    }
}
