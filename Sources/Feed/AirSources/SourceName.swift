internal import AirQuality
public import AirQualityIndex

/// The sources that can be asked, with the address, limits and licence of each.
public enum SourceName: String, CaseIterable, Sendable {
    case openMeteo = "open-meteo"
    case waqi, openaq, cpcb
    /// Any source that responds with JSON, read by a jq program.
    case json

    /// Scheme and host: two sources have one for those who have a key.
    public func baseURL(hasKey: Bool) -> String {
        switch self {
        case .openMeteo: "https://\(hasKey ? "customer-" : "")air-quality-api.open-meteo.com"
        case .waqi: "https://api.waqi.info"
        case .openaq: "https://api.openaq.org"
        case .cpcb: hasKey ? "https://api.data.gov.in" : "https://airquality.cpcb.gov.in"
        // Part of its --url.
        case .json: ""
        }
    }

    public var needsKey: Bool { self == .waqi || self == .openaq }

    /// The one index that the source gives itself; `nil` when it gives concentrations.
    public var givenIndex: IndexScale? {
        switch self {
        case .openMeteo, .openaq, .json: nil
        case .waqi: .us
        case .cpcb: .india
        }
    }

    /// Calls that are safe for anybody.
    public var rate: CallRate {
        switch self {
        // Each place is a call. Allowed are 600 a minute, 5,000 an hour and 10,000 a day; 400 at once and 400 an hour
        // keep within all three.
        case .openMeteo: CallRate(calls: 400, per: .seconds(3600))
        // Allowed are 1,000 a minute.
        case .waqi: CallRate(calls: 120, per: .seconds(60))
        // Allowed are 60 a minute and 2,000 an hour; 30 at once and 30 a minute keep within both.
        case .openaq: CallRate(calls: 30, per: .seconds(60))
        // Nothing is published; the set has about a dozen pages.
        case .cpcb: CallRate(calls: 20, per: .seconds(60))
        case .json: CallRate(calls: 60, per: .seconds(60))
        }
    }

    /// Value of the field `Air-Quality-Source` in the handshake's response.
    public var headerValue: String {
        switch self {
        case .openMeteo: "open-meteo; kind=model; license=\"CC BY 4.0\""
        case .waqi: "waqi; kind=stations; license=\"aqicn.org/api/tos\""
        case .openaq: "openaq; kind=stations; license=\"see openaq.org\""
        case .cpcb: "cpcb; kind=stations; license=\"GODL-India\""
        case .json: "json"
        }
    }

    /// - Parameters:
    ///   - key: that of a `SourceKey`.
    ///   - maximumCost: greatest cost of one query.
    ///   - document: the one query of `json`, which asks for no cities.
    public func source(
        cities: [PolledCity], scale: IndexScale, key: String?, maximumCost: Int, document: SourceQuery
    ) -> any AirSource {
        switch self {
        case .openMeteo: OpenMeteo(cities: cities, scale: scale, key: key, maximumCost: maximumCost)
        case .waqi: WAQI(cities: cities, token: key ?? "")
        case .openaq: OpenAQ(cities: cities, scale: scale, key: key ?? "")
        case .cpcb: if let key { CPCB(cities: cities, key: key) } else { CPCBFeed(cities: cities) }
        case .json: JSONSource(document: document)
        }
    }
}
