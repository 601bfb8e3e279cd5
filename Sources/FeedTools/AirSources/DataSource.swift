public import AirQualityIndex

/// A supported source of air quality data. Each is declared in the file that reads it, and listed in ``all``.
public struct DataSource: Sendable {
    /// The origin of the data; the `kind` of the source for clients.
    enum Kind: String {
        case model, stations
    }

    /// The settings of a source.
    public struct Setup: Sendable {
        var cities: [PolledCity]
        /// The scale of the AQI to compute, unless the source gives one.
        var scale: IndexScale
        /// The text of a `SourceKey`.
        var key: String?
        /// Maximum `cost` of one query.
        var maximumCost: Int
        /// The only query of `json`.
        var document: SourceQuery

        public init(
            cities: [PolledCity], scale: IndexScale, key: String?, maximumCost: Int, document: SourceQuery
        ) {
            self.cities = cities
            self.scale = scale
            self.key = key
            self.maximumCost = maximumCost
            self.document = document
        }
    }

    /// In the order in which errors and the help name them.
    public static let all: [DataSource] = [.openMeteo, .waqi, .openaq, .cpcb, .json]

    /// As in `--source`.
    public let name: String
    /// Scheme and host; empty if they are part of `--url`.
    let baseURL: String
    /// Scheme and host for those who have a key, if they are others.
    var baseURLWithKey: String?
    public var needsKey = false
    /// The scale of the AQI that the source gives; `nil` if it gives concentrations.
    public var givenScale: IndexScale?
    /// A rate within the limits that apply to every user.
    public let rate: CallRate
    var kind: Kind?
    var license: String?
    public let api: @Sendable (Setup) -> any AirSource

    public func baseURL(hasKey: Bool) -> String { hasKey ? baseURLWithKey ?? baseURL : baseURL }

    /// Value of the `Air-Quality-Source` field in the handshake response.
    public var headerValue: String {
        let kind = kind.map { "; kind=\($0.rawValue)" }
        let license = license.map { "; license=\"\($0)\"" }
        return name + (kind ?? "") + (license ?? "")
    }
}

extension DataSource: Hashable {
    public static func == (first: DataSource, second: DataSource) -> Bool { first.name == second.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
