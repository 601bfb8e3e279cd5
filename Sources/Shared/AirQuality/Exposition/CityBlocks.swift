import Bytes

/// Source of a city's samples.
struct CitySample: Sendable {
    var state: CityState
    var extras: CityExtras?
}

/// Families of cities, as `--metrics.families` names them.
public enum CityFamilyName: String, Sendable, CaseIterable {
    case index, category, direction, changed, changes, updated
    /// Without the flag that names their member there are none.
    case concentration, subindex, place
}

/// A family whose series are the cities'.
struct CityFamily: Sendable {
    let name: CityFamilyName
    let family: Family<CitySample>
    /// Only a change of a city's category changes its samples.
    var isOfCategory = false

    init(
        _ name: CityFamilyName, _ metric: String, labels: [String] = [], _ help: String,
        kind: MetricFamily.Kind = .gauge, isOfCategory: Bool = false,
        samples: @escaping @Sendable (CitySample, Family<CitySample>.AddSample) -> Void
    ) {
        self.name = name
        self.isOfCategory = isOfCategory
        family = Family(metric, kind, labels: ["city"] + labels, help, samples: samples)
    }

    static let all: [CityFamily] = [
        CityFamily(.index, "airquality_index", "Current Air Quality Index of the city.") { city, add in
            add([], .number(city.state.index))
        },
        CityFamily(
            .category, "airquality_category",
            "Category of the city's index, 1 the best; airquality_category_info names them.", isOfCategory: true
        ) { city, add in add([], .number(Double(city.state.category))) },
        CityFamily(
            .direction, "airquality_category_direction",
            "Direction of the city's last category change: 1 improved, -1 worsened, 0 none yet.", isOfCategory: true
        ) { city, add in add([], .number(Double(city.state.changes.direction))) },
        CityFamily(
            .changed, "airquality_category_changed_timestamp_seconds",
            "When the city's category last changed, in seconds since the Unix epoch.", isOfCategory: true
        ) { city, add in
            if let time = city.state.changes.changedAt { add([], .time(time)) }
        },
        CityFamily(
            .changes, "airquality_category_changes_total", labels: ["direction"],
            "Number of category changes of the city.", kind: .counter, isOfCategory: true
        ) { city, add in
            add(better, .number(Double(city.state.changes.better)))
            add(worse, .number(Double(city.state.changes.worse)))
        },
        CityFamily(
            .updated, "airquality_last_update_timestamp_seconds",
            "Time of the city's newest reading, in seconds since the Unix epoch."
        ) { city, add in add([], .time(city.state.updatedAt)) },
        CityFamily(
            .concentration, "airquality_concentration_ugm3", labels: ["pollutant"],
            "Concentration of a pollutant in the city's air, in micrograms per cubic metre."
        ) { city, add in addPollutants(city.extras?.concentrations, add) },
        CityFamily(
            .subindex, "airquality_subindex", labels: ["pollutant"],
            "Sub-index of a pollutant in the city; the highest one is the city's index."
        ) { city, add in addPollutants(city.extras?.subIndices, add) },
        CityFamily(
            .place, "airquality_city_info", labels: CityPlace.fields,
            "Location of the city; unknown labels are empty."
        ) { city, add in
            if let place = city.extras?.place { add(labels(of: place), .number(1)) }
        },
    ]

    private static let better = [LabelValue("better")]
    private static let worse = [LabelValue("worse")]
    private static let pollutants = PollutantValues.pollutants.map { [LabelValue($0)] }

    private static func labels(of place: CityPlace) -> [LabelValue] {
        [LabelValue(place.country)]
            + [place.latitude, place.longitude].map { number in
                var digits: [UInt8] = []
                if let number { digits.appendNumber(number) }
                return LabelValue(digits)
            }
    }

    private static func addPollutants(_ values: PollutantValues?, _ add: Family<CitySample>.AddSample) {
        guard let values else { return }
        for (place, pollutant) in pollutants.enumerated() {
            if let value = values[place] { add(pollutant, .number(value)) }
        }
    }
}

/// The samples of the cities as text: a block for each family and each run of cities in the store's order, rendered anew
/// when one of its cities has changed.
struct CityBlocks: Sendable {
    private let families: [CityFamily]
    private let headers, openMetricsHeaders: [ExpositionBlock]
    private var blocks: [ExpositionBlock] = []
    private(set) var version: UInt64 = 0

    init(_ families: [CityFamily]) {
        self.families = families
        headers = families.map { ExpositionBlock($0.family.metric.header) }
        openMetricsHeaders = families.map { ExpositionBlock($0.family.metric.openMetricsHeader) }
    }

    /// All families that have samples, as of the last update.
    func blocks(isOpenMetrics: Bool) -> [ExpositionBlock] {
        var list: [ExpositionBlock] = []
        for (family, block) in blocks.enumerated() where !block.bytes.isEmpty {
            list.append((isOpenMetrics ? openMetricsHeaders : headers)[family])
            list.append(block)
        }
        return list
    }

    /// A family after the other in protobuf, those that have samples. Nothing of it is kept: few scrapers ask for it, and
    /// it would take as much memory as the text.
    func renderProtobuf(_ snapshot: StoreSnapshot, _ body: ([UInt8]) -> Void) {
        for family in families {
            var samples: [UInt8] = []
            for city in snapshot.order {
                let (label, source) = Self.sample(of: city, snapshot)
                ExpositionFormat.protobuf.appendSamples(of: family.family, label, source, to: &samples)
            }
            guard !samples.isEmpty else { continue }
            body(ProtobufExposition.header(of: family.family.metric, sampleByteCount: samples.count))
            body(samples)
        }
    }

    mutating func update(to snapshot: StoreSnapshot) {
        blocks = families.map { family in
            var bytes: [UInt8] = []
            for city in snapshot.order {
                let (label, source) = Self.sample(of: city, snapshot)
                ExpositionFormat.text004.appendSamples(of: family.family, label, source, to: &bytes)
            }
            return ExpositionBlock(bytes)
        }
        version = snapshot.version
    }

    private static func sample(of city: Int, _ snapshot: StoreSnapshot) -> (label: LabelValue, source: CitySample) {
        let state = snapshot.states[city]
        return (LabelValue(state.name), CitySample(state: state, extras: state.extras))
    }
}
