internal import AirQuality
internal import Bytes

/// A family whose series are the cities': a row of the table for its name, type and help, and a case of
/// ``appendSamples(_:_:to:)`` for its samples.
struct CityFamily: Sendable {
    let name: CityFamilyName
    let metric: MetricFamily

    private init(
        _ name: CityFamilyName, _ metric: String, _ kind: MetricFamily.Kind, labels: [String] = [],
        _ help: String
    ) {
        self.name = name
        self.metric = MetricFamily(metric, kind, labels: ["city"] + labels, help)
    }

    static let all: [CityFamily] = [
        CityFamily(.index, "airquality_index", .gauge, "Current Air Quality Index of the city."),
        CityFamily(
            .category, "airquality_category", .gauge,
            "Category of the city's index, 1 the best; airquality_category_info names them."),
        CityFamily(
            .direction, "airquality_category_direction", .gauge,
            "Direction of the city's last category change: 1 improved, -1 worsened, 0 none yet."),
        CityFamily(
            .changed, "airquality_category_changed_timestamp_seconds", .gauge,
            "When the city's category last changed, in seconds since the Unix epoch."),
        CityFamily(
            .changes, "airquality_category_changes_total", .counter, labels: ["direction"],
            "Number of category changes of the city."),
        CityFamily(
            .updated, "airquality_last_update_timestamp_seconds", .gauge,
            "Time of the city's newest reading, in seconds since the Unix epoch."),
        CityFamily(
            .concentration, "airquality_concentration_ugm3", .gauge, labels: ["pollutant"],
            "Concentration of a pollutant in the city's air, in micrograms per cubic metre."),
        CityFamily(
            .subindex, "airquality_subindex", .gauge, labels: ["pollutant"],
            "Sub-index of a pollutant in the city; the highest one is the city's index."),
        CityFamily(
            .place, "airquality_city_info", .gauge, labels: ["country", "latitude", "longitude"],
            "Location of the city; unknown labels are empty."),
    ]

    /// Appends the family with the samples of all cities, or nothing where there are none.
    func append(_ snapshot: StoreSnapshot, in format: ExpositionFormat, to page: inout [UInt8]) {
        metric.append(in: format, to: &page) { page in
            // Reading the states in place: a copy of each would take and give back its references.
            let states = snapshot.states.span
            for city in snapshot.order { appendSamples(states[city], to: &page) }
        }
    }

    @inline(__always)
    private func appendSamples(_ city: borrowing CityState, to page: inout [UInt8]) {
        switch name {
        case .index: append(city, city.index, &page)
        case .category: append(city, Double(city.category), &page)
        case .direction: append(city, Double(city.changes.direction), &page)
        case .changed:
            guard let time = city.changes.changedAt else { return }
            append(city, time: time, &page)
        case .changes:
            append(city, label: Self.better, Double(city.changes.better), &page)
            append(city, label: Self.worse, Double(city.changes.worse), &page)
        case .updated: append(city, time: city.updatedAt, &page)
        case .concentration: append(city, city.extras?.concentrations, &page)
        case .subindex: append(city, city.extras?.subIndices, &page)
        case .place:
            guard let place = city.extras?.place else { return }
            append(city, place, &page)
        }
    }

    /// Appends the name, and the city's label up to its closing quotation mark.
    @inline(__always)
    private func open(_ city: borrowing CityState, _ page: inout [UInt8]) {
        page += metric.beforeLabels[0]
        if city.hasPlainName { page += city.name } else { page.appendLabelValue(city.name) }
    }

    @inline(__always)
    private func append(_ city: borrowing CityState, time: Timestamp, _ page: inout [UInt8]) {
        open(city, &page)
        page += Self.labelsEnd
        page.appendInteger(UInt64(clamping: time), decimals: 3)
        page.append(Self.lineEnd)
    }

    /// - Parameter label: the value of the second label, if there is one.
    @inline(__always)
    private func append(
        _ city: borrowing CityState, label: [UInt8]? = nil, _ number: Double, _ page: inout [UInt8]
    ) {
        open(city, &page)
        if let label {
            page += metric.beforeLabels[1]
            page += label
        }
        page += Self.labelsEnd
        page.appendNumber(number)
        page.append(Self.lineEnd)
    }

    private func append(_ city: borrowing CityState, _ values: PollutantValues?, _ page: inout [UInt8]) {
        guard let values else { return }
        for (place, pollutant) in Self.pollutants.enumerated() {
            if let value = values[place] { append(city, label: pollutant, value, &page) }
        }
    }

    private func append(_ city: borrowing CityState, _ place: CityPlace, _ page: inout [UInt8]) {
        open(city, &page)
        page += metric.beforeLabels[1]
        page.appendLabelValue(place.country)
        for (label, degrees) in [place.latitude, place.longitude].enumerated() {
            page += metric.beforeLabels[label + 2]
            if let degrees { page.appendNumber(degrees) }
        }
        page += Self.labelsEnd
        page.append(UInt8(ascii: "1"))
        page.append(Self.lineEnd)
    }

    private static let labelsEnd = Array("\"} ".utf8)
    private static let lineEnd = UInt8(ascii: "\n")
    private static let better = Array("better".utf8)
    private static let worse = Array("worse".utf8)
    private static let pollutants = PollutantValues.pollutants.map { Array($0.utf8) }
}
