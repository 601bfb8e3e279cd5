/// A metric family with its samples, in the order of the page.
struct FamilySamples: Sendable, Equatable {
    struct Sample: Sendable, Equatable {
        /// Values of the family's labels, in their order.
        var labels: [String]
        var value: Double
    }

    var family: MetricFamily
    var samples: [Sample]

    init(_ family: MetricFamily, _ samples: [(labels: [String], value: Double)]) {
        self.family = family
        self.samples = samples.map { Sample(labels: $0.labels, value: $0.value) }
    }

    init(_ family: MetricFamily, _ value: Double?) {
        self.init(family, value.map { [([], $0)] } ?? [])
    }
}
