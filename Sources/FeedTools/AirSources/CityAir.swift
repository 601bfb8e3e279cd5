public import AirQuality
internal import AirQualityIndex

/// A city's air as sent by the feed.
public struct CityAir: Sendable, Equatable {
    public var aqi: Double
    /// The newest hour that the AQI includes, in seconds since the Unix epoch.
    public var observedAt: Int64
    /// Concentrations of the newest hours in µg/m³; empty if the source has none.
    public var concentrations: [Pollutant: Double] = [:]
    public var subIndices: [Pollutant: Double] = [:]
    /// How the AQI was averaged: `24h`, `nowcast` or `1h`, or `given` by the source.
    public var basis: String
    /// The measuring agencies, if the source's terms require naming them.
    public var attribution: String?
}

/// Maximum age of an observation, in seconds.
let staleAfter: Int64 = 24 * 3600

extension IndexScale {
    /// Computes the AQI and returns it with the concentrations of its newest hour.
    ///
    /// - Parameter values: none of them after `now`.
    func air(_ values: [Pollutant: Hours], at now: Int64) throws(AirUnavailable) -> CityAir {
        guard let hour = values.filter({ includes($0.key) }).values.lazy.flatMap(\.values.keys).max() else {
            throw AirUnavailable("no hour has a value")
        }
        let observedAt = Int64(hour) * 3600
        guard now - observedAt <= staleAfter else {
            throw AirUnavailable("the newest value is \((now - observedAt) / 3600) hours old")
        }
        let (aqi, subIndices) = try indices(of: values, at: hour)
        guard AQIRange.isValid(aqi) else { throw AirUnavailable("the index would be \(Int(aqi))") }
        let newest = values.compactMapValues { $0.newest(at: hour) }.mapValues { ($0 * 100).rounded() / 100 }
        return CityAir(
            aqi: aqi, observedAt: observedAt, concentrations: newest, subIndices: subIndices, basis: basis)
    }
}
