internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// The World Air Quality Index project: a station's index on the American scale with the limits of 2016, whatever its
/// country.
///
/// Documented at https://aqicn.org/json-api/doc/. Its `iaqi` are sub-indices and no concentrations, so none are sent.
/// `time.v` is the station's local time counted as if it were Greenwich's, so `time.iso` is read.
struct WAQI: AirSource {
    /// Limit of the distance: the service gives the nearest station, however far that is.
    private static let maximumKilometers = 50.0

    let cities: [PolledCity]
    let token: String

    func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        due.map { number in
            let city = cities[number]
            let place = city.id.map { Self.path(of: $0) } ?? "geo:\(degrees(city.latitude));\(degrees(city.longitude))"
            return SourceQuery(
                path: "/feed/\(place)/?token=" + percentEncoded(token.utf8), subject: city.name,
                kind: .cities([number]))
        }
    }

    /// A station is `@1437`, a city `beijing` or `usa/california/fresno`.
    private static func path(of id: String) -> String {
        let name = id.utf8.drop { $0 == UInt8(ascii: "@") }
        return (id.hasPrefix("@") ? "@" : "") + percentEncoded(name, keepsSlashes: true)
    }

    func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        guard case .cities(let numbers) = query.kind, let number = numbers.first else { return SourceResponse() }
        let station: Station.Content
        do throws(SourceError) {
            let document = try decoded(Station.self, from: body)
            // An unknown number is an error inside of a good response.
            if document.data.status == "error" { throw .failed(document.data.msg ?? "it gives no reason") }
            station = document.data
        } catch {
            guard case .failed(let text) = error else { throw error }
            return SourceResponse(findings: [CityFinding(city: number, .failure(AirUnavailable(onOneLine(text))))])
        }
        return SourceResponse(findings: [CityFinding(city: number, air(of: station, for: cities[number], at: now))])
    }

    private func air(of station: Station.Content, for city: PolledCity, at now: Int64) -> Result<
        CityAir, AirUnavailable
    > {
        guard let index = station.aqi?.value, IndexRange.isValid(index) else {
            return .failure(AirUnavailable("the station gives no index"))
        }
        guard let iso = station.time?.value?.iso, let observedAt = epochSeconds(iso) else {
            return .failure(AirUnavailable("the station gives no time"))
        }
        guard observedAt <= now + 3600, now - observedAt <= staleAfter else {
            return .failure(AirUnavailable("the station's time is \(iso.prefix(40))"))
        }
        if let id = city.id {
            // The token `demo` gets one station whatever it asks for.
            if id.hasPrefix("@"), let wanted = Int(id.dropFirst()), wanted > 0, let given = station.idx?.value,
                given != Double(wanted)
            {
                return .failure(AirUnavailable("it gives another station in place of \(id)"))
            }
        } else if let geo = station.city?.value?.geo, geo.count == 2 {
            guard let distance = kilometers(city.latitude, city.longitude, geo[0], geo[1]) else {
                return .failure(AirUnavailable("the station's place is none on the globe"))
            }
            guard distance <= Self.maximumKilometers else {
                return .failure(AirUnavailable("the nearest station is \(Int(distance)) km away"))
            }
        }
        let subIndices = station.iaqi?.value?.values.filter { IndexRange.isValid($1) } ?? [:]
        let names = station.attributions?.elements.compactMap(\.name) ?? []
        let attribution = onOneLine(String(names.joined(separator: "; ").unicodeScalars.prefix(300)))
        return .success(
            CityAir(
                index: index, observedAt: min(observedAt, now), subIndices: subIndices, basis: "given",
                attribution: attribution.isEmpty ? nil : attribution))
    }

    private struct Station: Decodable {
        struct Content: Decodable {
            struct Time: Decodable {
                /// A dead station has none.
                var iso: String?
            }

            struct Place: Decodable { var geo: [Double]? }

            struct Agency: Decodable { var name: String? }

            var aqi: LooseNumber?
            var idx: LooseNumber?
            var time: Lenient<Time>?
            var city: Lenient<Place>?
            var iaqi: Lenient<SubIndices>?
            var attributions: List<Agency>?
            var status: String?
            var msg: String?
        }

        var data: Content
    }

    private struct SubIndices: Decodable {
        struct Value: Decodable { var v: Double }

        var values: [Pollutant: Double] = [:]

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: MemberName.self)
            for pollutant in Pollutant.allCases {
                let name = MemberName(stringValue: pollutant == .pm25 ? "pm25" : pollutant.rawValue)
                values[pollutant] = try? members.decode(Value.self, forKey: name).v
            }
        }
    }
}
