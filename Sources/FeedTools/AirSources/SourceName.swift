internal import AirQuality
public import AirQualityIndex

/// The supported sources, with their addresses, rate limits and licences.
public enum SourceName: String, CaseIterable, Sendable {
    case openMeteo = "open-meteo"
    case waqi, openaq, cpcb
    /// Any HTTP source of JSON, read by a jq program.
    case json

    /// Scheme and host, which differ with a key for two of the sources.
    public func baseURL(hasKey: Bool) -> String {
        switch self {
        case .openMeteo: "https://\(hasKey ? "customer-" : "")air-quality-api.open-meteo.com"
        case .waqi: "https://api.waqi.info"
        case .openaq: "https://api.openaq.org"
        case .cpcb: hasKey ? "https://api.data.gov.in" : "https://airquality.cpcb.gov.in"
        // Part of `--url`.
        case .json: ""
        }
    }

    public var needsKey: Bool { self == .waqi || self == .openaq }

    /// The index that the source gives; `nil` if it gives concentrations.
    public var givenIndex: IndexScale? {
        switch self {
        case .openMeteo, .openaq, .json: nil
        case .waqi: .us
        case .cpcb: .india
        }
    }

    /// A rate within the limits that apply to every user.
    public var rate: CallRate {
        switch self {
        // Each place is a call. The limits are 600 a minute, 5,000 an hour and 10,000 a day; a burst of 400 and 400 an
        // hour stay within all three.
        case .openMeteo: CallRate(calls: 400, per: .seconds(3600))
        // The limit is 1,000 a minute.
        case .waqi: CallRate(calls: 120, per: .seconds(60))
        // The limits are 60 a minute and 2,000 an hour; a burst of 30 and 30 a minute stay within both.
        case .openaq: CallRate(calls: 30, per: .seconds(60))
        // No limit is published; the data set has about a dozen pages.
        case .cpcb: CallRate(calls: 20, per: .seconds(60))
        case .json: CallRate(calls: 60, per: .seconds(60))
        }
    }

    /// Value of the `Air-Quality-Source` field in the handshake response.
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
    ///   - key: the text of a `SourceKey`.
    ///   - maximumCost: maximum `cost` of one query.
    ///   - document: the only query of `json`.
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
