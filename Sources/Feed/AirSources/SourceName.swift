internal import AirQuality
public import AirQualityIndex

/// The sources that can be asked, and what is known of each.
public enum SourceName: String, CaseIterable, Sendable {
    case openMeteo = "open-meteo"
    case waqi, openaq, cpcb

    /// Scheme and host: two sources have one for those who have a key.
    public func baseURL(hasKey: Bool) -> String {
        switch self {
        case .openMeteo: "https://\(hasKey ? "customer-" : "")air-quality-api.open-meteo.com"
        case .waqi: "https://api.waqi.info"
        case .openaq: "https://api.openaq.org"
        case .cpcb: hasKey ? "https://api.data.gov.in" : "https://airquality.cpcb.gov.in"
        }
    }

    public var needsKey: Bool { self == .waqi || self == .openaq }

    /// The one index that the source gives itself; nil = it gives concentrations.
    public var givenIndex: IndexScale? {
        switch self {
        case .openMeteo, .openaq: nil
        case .waqi: .us
        case .cpcb: .india
        }
    }

    /// Calls that are safe for anybody.
    public var rate: CallRate {
        switch self {
        // Each place is a call. Allowed are 600 a minute, 5,000 an hour and 10,000 a day; 400 at once and 400 an hour keep
        // within all three.
        case .openMeteo: CallRate(calls: 400, per: .seconds(3600))
        // Allowed are 1,000 a minute.
        case .waqi: CallRate(calls: 120, per: .seconds(60))
        // Allowed are 60 a minute and 2,000 an hour; 30 at once and 30 a minute keep within both.
        case .openaq: CallRate(calls: 30, per: .seconds(60))
        // Nothing is published; the set has about a dozen pages.
        case .cpcb: CallRate(calls: 20, per: .seconds(60))
        }
    }

    /// What the feed says of itself in the handshake's response, `Air-Quality-Source`.
    public var headerValue: String {
        let (kind, license) =
            switch self {
            case .openMeteo: ("model", "CC BY 4.0")
            case .waqi: ("stations", "aqicn.org/api/tos")
            case .openaq: ("stations", "see openaq.org")
            case .cpcb: ("stations", "GODL-India")
            }
        return "\(rawValue); kind=\(kind); license=\"\(license)\""
    }

    /// - Parameters:
    ///   - key: text that `isKey` accepts.
    ///   - maximumCost: of one query.
    public func source(cities: [City], scale: IndexScale, key: String?, maximumCost: Int) -> any AirSource {
        switch self {
        case .openMeteo: OpenMeteo(cities: cities, scale: scale, key: key, maximumCost: maximumCost)
        case .waqi: WAQI(cities: cities, token: key ?? "")
        case .openaq: OpenAQ(cities: cities, scale: scale, key: key ?? "")
        case .cpcb: if let key { CPCB(cities: cities, key: key) } else { CPCBFeed(cities: cities) }
        }
    }
}

/// Whether a text can be a key: one that does not break a header or an address.
public func isKey(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 256 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
}

/// A limit of `calls` calls per `period`; all of them may be made at once.
public struct CallRate: Sendable, Equatable {
    public var calls: Int
    public var period: Duration

    public init(calls: Int, per period: Duration) {
        self.calls = calls
        self.period = period
    }
}

/// The calls that may be made now: a token bucket that is full at first. Times are milliseconds since the Unix epoch.
public struct CallBudget: Sendable {
    private let capacity: Double
    private let perMillisecond: Double
    private var tokens: Double
    private var countedAt: Int64?

    public init(_ rate: CallRate) {
        capacity = Double(rate.calls)
        perMillisecond = capacity / max(1, rate.period / .milliseconds(1))
        tokens = capacity
    }

    /// Milliseconds until `cost` calls may be made. A cost above the capacity counts as the capacity.
    public mutating func delay(for cost: Int, at now: Int64) -> Int64 {
        refill(at: now)
        let missing = min(Double(cost), capacity) - tokens
        return missing > 0 ? Int64((missing / perMillisecond).rounded(.up)) : 0
    }

    /// Whole calls that may be made now.
    public mutating func left(at now: Int64) -> Int {
        refill(at: now)
        return Int(tokens)
    }

    private mutating func refill(at now: Int64) {
        // A clock that was set back adds no tokens.
        tokens = min(capacity, tokens + Double(max(0, now - (countedAt ?? now))) * perMillisecond)
        countedAt = now
    }

    public mutating func spend(_ cost: Int) { tokens -= min(Double(cost), capacity) }
}
