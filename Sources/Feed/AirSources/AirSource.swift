public import AirQuality
public import AirQualityIndex

/// A place to report on.
public struct City: Sendable, Equatable {
    public var name: String
    public var latitude: Double
    public var longitude: Double
    /// What the source calls it; nil = it is found by its place or its name.
    public var id: String?
    /// ISO 3166's two letters, where the list of cities knows it.
    public var country: String?

    public init(name: String, latitude: Double, longitude: Double, id: String? = nil, country: String? = nil) {
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
        self.id = id
        self.country = country
    }
}

/// A city's air as the feed says it.
public struct CityAir: Sendable, Equatable {
    public var index: Double
    /// Seconds since the Unix epoch: of the newest hour that is in it.
    public var observedAt: Int64
    /// µg/m³, of the newest hours; empty when the source has none.
    public var concentrations: [Pollutant: Double] = [:]
    public var subIndices: [Pollutant: Double] = [:]
    /// What the index rests on: `24h`, `nowcast`, `1h`, or `given` by the source.
    public var basis: String
    /// Who measured it, where the source's terms ask for it.
    public var attribution: String?
}

/// A source's result for one city.
public struct CityFinding: Sendable, Equatable {
    /// The city's place in the list of cities.
    public var city: Int
    public var air: Result<CityAir, AirUnavailable>

    init(city: Int, _ air: Result<CityAir, AirUnavailable>) {
        self.city = city
        self.air = air
    }
}

/// One request to a source.
public struct SourceQuery: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case cities([Int])
        case stations(city: Int)
        case hours(city: Int, sensor: Int)
        case page(offset: Int)
    }

    /// Path and query as the source documents them. May hold the key.
    public var path: String
    /// Header lines. May hold the key.
    public var headers: [String] = []
    /// The number of calls it counts for.
    public var cost = 1
    /// What it asks for, in words for a log.
    public var subject: String
    var kind: Kind

    /// Whether status 304 can be used as a response; it cannot where the response is one part of several.
    public var standsAlone: Bool {
        switch kind {
        case .cities, .hours: true
        case .stations, .page: false
        }
    }
}

public struct SourceResponse: Sendable, Equatable {
    public var findings: [CityFinding] = []
    /// What has to be asked now that this is known.
    public var queries: [SourceQuery] = []
    /// Hours that were left out because no air changes like that, each counted once.
    public var spikes = 0
}

/// The reason why a response says nothing.
public enum SourceError: Error, Sendable, Equatable {
    /// The key is wrong, or does not allow this.
    case refused(String)
    /// Too many calls.
    case busy(String)
    /// A fault that the source reports in place of what was asked for.
    case failed(String)
    /// Not in the documented shape.
    case unreadable(String)

    /// What the source says in place of what was asked for, told apart by its words.
    public init(saying said: String) {
        let text = said.lowercased()
        let words = text.split { !$0.isLetter }
        func mentions(_ beginnings: String...) -> Bool { words.contains { beginnings.contains(where: $0.hasPrefix) } }
        let isBusy = mentions("quota") || ["rate limit", "limit exceeded", "too many"].contains { text.contains($0) }
        self =
            isBusy
            ? .busy(said)
            : words.contains("key") || words.contains("keys")
                || mentions(
                    "apikey", "token", "authoris", "authoriz", "unauthori", "authenticat", "unauthenticat", "forbidden")
                ? .refused(said) : .failed(said)
    }
}

/// What to ask a source, and what its responses mean. A value without a clock: times are seconds since the Unix epoch.
public protocol AirSource: Sendable {
    /// The queries of a new round; what is left of the one before is forgotten.
    mutating func queries(for cities: [Int], at now: Int64) -> [SourceQuery]
    /// Reads the body of a good response.
    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse
    /// What is known when a query gets no response in this round.
    mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse
}

extension AirSource {
    public mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse { SourceResponse() }
}

/// Air that nobody has heard of for this many seconds is none.
let staleAfter: Int64 = 24 * 3600

extension IndexScale {
    /// The index and the concentrations of the newest hour that is not in the future.
    func air(_ concentrations: HourlyConcentrations, at now: Int64) -> Result<CityAir, AirUnavailable> {
        guard let hour = concentrations.newestHour(notAfter: Int(now / 3600)) else {
            return .failure(AirUnavailable("no hour has a value"))
        }
        let observedAt = Int64(hour) * 3600
        guard now - observedAt <= staleAfter else {
            return .failure(AirUnavailable("the newest value is \((now - observedAt) / 3600) hours old"))
        }
        do throws(AirUnavailable) {
            let (index, subIndices) = try indices(of: concentrations, at: hour)
            guard IndexRange.isValid(index) else { return .failure(AirUnavailable("the index would be \(Int(index))")) }
            let newest = concentrations.newest(at: hour).mapValues { ($0 * 100).rounded() / 100 }
            return .success(
                CityAir(
                    index: index, observedAt: observedAt, concentrations: newest, subIndices: subIndices, basis: basis))
        } catch {
            return .failure(error)
        }
    }
}
