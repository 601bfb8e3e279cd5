public import AirQuality

/// Renders a metrics page from a snapshot: the families of the cities, the scale, the feeds and the store in a fixed
/// order. The text depends only on the snapshot, so a page can be cached while ``StoreSnapshot/version`` is unchanged.
///
/// ```swift
/// let exposition = Exposition()
/// var page: [UInt8] = []
/// exposition.render(store.snapshot(), in: .openMetrics100, to: &page)
/// page += ExpositionFormat.openMetrics100.end.utf8
/// ```
public struct Exposition: Sendable {
    private let cityFamilies: [CityFamily]

    /// - Parameter families: the families of cities to render. `airquality_city_info` always has the city's feed, its
    ///   location only with `place`.
    public init(families: [CityFamilyName] = CityFamilyName.allCases) {
        cityFamilies = CityFamily.all.compactMap { family in
            var family = family
            family.isShortened = family.name == .place && !families.contains(.place)
            return families.contains(family.name) || family.isShortened ? family : nil
        }
    }

    /// Appends the families that have samples, without the format's ``ExpositionFormat/end``, as more may follow.
    public func render(_ snapshot: StoreSnapshot, in format: ExpositionFormat, to page: inout [UInt8]) {
        let labels = CityLabels(snapshot.states)
        for family in cityFamilies { family.append(snapshot.states, labels, in: format, to: &page) }
        for family in Self.others { family.append(snapshot, in: format, to: &page) }
    }

    private static let others = StoreSnapshot.scaleFamilies + StoreSnapshot.feedFamilies + StoreSnapshot.storeFamilies

    /// The families of the cities, the scale, the feeds and the store, in page order.
    public static let metrics: [MetricFamily] = CityFamily.all.map(\.metric) + others.map(\.metric)
}
