internal import AirQuality
internal import Bytes

/// Metric families of cities, by their names in `--metrics.families`.
public enum CityFamilyName: String, Sendable, CaseIterable {
    case index, category, direction, changed, changes, updated, concentration, subindex, place
}

/// A metric family with samples of each city, which ``appendSamples(of:in:_:to:)`` writes.
struct CityFamily: Sendable {
    let name: CityFamilyName
    let metric: MetricFamily
    /// Whether `airquality_city_info` has only the city and its feed.
    var isShortened = false

    private init(
        _ name: CityFamilyName, _ metric: String, _ kind: MetricFamily.Kind, labels: [String] = [], _ help: String
    ) {
        self.name = name
        self.metric = MetricFamily(metric, kind, labels: ["city"] + labels, help)
    }

    static let all: [CityFamily] = [
        CityFamily(.index, "airquality_index", .gauge, "Current Air Quality Index of the city."),
        CityFamily(
            .category, "airquality_category", .gauge,
            "Category of the city's index, 1 is best; airquality_category_info names them."),
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
            .place, "airquality_city_info", .gauge, labels: ["feed", "country", "latitude", "longitude"],
            "Feed and location of the city; unknown labels are empty."),
    ]

    func append(_ states: [CityState], _ labels: CityLabels, in format: ExpositionFormat, to page: inout [UInt8]) {
        metric.append(in: format, to: &page) { page in
            // A span avoids retaining and releasing the references of each state.
            let states = states.span
            var rest: (feed: [UInt8], line: [UInt8]) = ([], [])
            for city in states.indices { appendSamples(of: city, in: states, labels, after: &rest, to: &page) }
        }
    }

    @inline(__always)
    private func appendSamples(
        of city: Int, in states: Span<CityState>, _ labels: CityLabels,
        after rest: inout (feed: [UInt8], line: [UInt8]), to page: inout [UInt8]
    ) {
        switch name {
        case .index: append(labels.closedName(city), states[city].aqi, &page)
        case .category: append(labels.closedName(city), Double(states[city].category), &page)
        case .direction: append(labels.closedName(city), Double(states[city].changes.direction), &page)
        case .changed:
            guard let time = states[city].changes.changedAt else { return }
            append(labels.closedName(city), time: time, &page)
        case .changes:
            append(labels.name(city), label: Self.better, Double(states[city].changes.better), &page)
            append(labels.name(city), label: Self.worse, Double(states[city].changes.worse), &page)
        case .updated: append(labels.closedName(city), time: states[city].updatedAt, &page)
        case .concentration:
            guard let values = states[city].extras?.concentrations else { return }
            append(labels.name(city), values, &page)
        case .subindex:
            guard let values = states[city].extras?.subIndices else { return }
            append(labels.name(city), values, &page)
        case .place:
            let place = isShortened ? nil : states[city].extras?.place
            append(labels.name(city), states[city].feedLabel, place, after: &rest, &page)
        }
    }

    /// - Parameter city: its label value and the end of the labels.
    @inline(__always)
    private func append(_ city: ArraySlice<UInt8>, time: Timestamp, _ page: inout [UInt8]) {
        page += metric.beforeLabels[0]
        page += city
        page.appendInteger(UInt64(clamping: time), decimals: 3)
        page.append(Self.lineEnd)
    }

    @inline(__always)
    private func append(_ city: ArraySlice<UInt8>, _ number: Double, _ page: inout [UInt8]) {
        page += metric.beforeLabels[0]
        page += city
        page.appendNumber(number)
        page.append(Self.lineEnd)
    }

    /// - Parameter label: value of the second label.
    @inline(__always)
    private func append(_ city: ArraySlice<UInt8>, label: [UInt8], _ number: Double, _ page: inout [UInt8]) {
        page += metric.beforeLabels[0]
        page += city
        page += metric.beforeLabels[1]
        page += label
        page += CityLabels.end
        page.appendNumber(number)
        page.append(Self.lineEnd)
    }

    private func append(_ city: ArraySlice<UInt8>, _ values: PollutantValues, _ page: inout [UInt8]) {
        for (index, pollutant) in Self.pollutants.enumerated() {
            if let value = values[index] { append(city, label: pollutant, value, &page) }
        }
    }

    /// Appends a city's feed and location. Most cities are of the feed of the one before and have no place: `rest` is
    /// then the end of its line.
    private func append(
        _ city: ArraySlice<UInt8>, _ feed: [UInt8], _ place: CityPlace?,
        after rest: inout (feed: [UInt8], line: [UInt8]),
        _ page: inout [UInt8]
    ) {
        page += metric.beforeLabels[0]
        page += city
        guard place != nil || rest.line.isEmpty || rest.feed != feed else {
            page += rest.line
            return
        }
        let start = page.count
        page += metric.beforeLabels[1]
        page.appendLabelValue(feed)
        page += metric.beforeLabels[2]
        page.appendLabelValue(place?.country ?? [])
        for (label, degrees) in [place?.latitude, place?.longitude].enumerated() {
            page += metric.beforeLabels[label + 3]
            if let degrees { page.appendNumber(degrees) }
        }
        page += CityLabels.end
        page.append(UInt8(ascii: "1"))
        page.append(Self.lineEnd)
        if place == nil { rest = (feed, Array(page[start...])) }
    }

    private static let lineEnd = UInt8(ascii: "\n")
    private static let better = Array("better".utf8)
    private static let worse = Array("worse".utf8)
    private static let pollutants = PollutantValues.pollutants.map { Array($0.utf8) }
}
