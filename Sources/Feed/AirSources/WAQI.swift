internal import AirQualityIndex
internal import Bytes
internal import Glibc

/// The World Air Quality Index project: a station's index on the American scale, whatever its country.
///
/// Documented at https://aqicn.org/json-api/doc/. Its `iaqi` are sub-indices and no concentrations, so none are sent.
/// `time.v` is the station's local time counted as if it were Greenwich's, so `time.iso` is read.
struct WAQI: AirSource {
    /// It answers with the nearest station, however far that is.
    private static let maximumKilometers = 50.0

    let cities: [City]
    let token: String

    func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        due.map { number in
            let city = cities[number]
            let place =
                city.id.map { Self.path(of: $0) }
                ?? "geo:\(degrees(city.latitude));\(degrees(city.longitude))"
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

    func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceAnswer {
        guard case .cities(let numbers) = query.kind, let number = numbers.first else { return SourceAnswer() }
        guard try decoded(Envelope.self, from: body).status == "ok" else {
            let text = explanation(in: body) ?? "it says no reason"
            switch text.lowercased() {
            case let text where text.contains("key") || text.contains("token"): throw .refused(text)
            case let text where text.contains("quota"): throw .busy(text)
            default: return SourceAnswer(findings: [CityFinding(city: number, .failure(NoAir(text)))])
            }
        }
        let station = try decoded(Station.self, from: body).data
        return SourceAnswer(findings: [CityFinding(city: number, air(of: station, for: cities[number], at: now))])
    }

    private func air(of station: Station.Content, for city: City, at now: Int64) -> Result<CityAir, NoAir> {
        guard let index = station.aqi.value, CityAir.indices.contains(index) else {
            return .failure(NoAir("the station gives no index"))
        }
        guard let observedAt = epochSeconds(station.time.iso) else {
            return .failure(NoAir("the station gives no time"))
        }
        guard observedAt <= now + 3600, now - observedAt <= staleAfter else {
            return .failure(NoAir("the station's time is \(station.time.iso.prefix(40))"))
        }
        if city.id == nil, let geo = station.city?.geo, geo.count == 2 {
            let distance = kilometers(city.latitude, city.longitude, geo[0], geo[1])
            guard distance <= Self.maximumKilometers else {
                return .failure(NoAir("the nearest station is \(Int(distance)) km away"))
            }
        }
        return .success(CityAir(index: index, observedAt: min(observedAt, now), basis: "given"))
    }

    private struct Envelope: Decodable {
        var status: String
    }

    private struct Station: Decodable {
        struct Content: Decodable {
            struct Time: Decodable {
                var iso: String
            }

            struct Place: Decodable {
                var geo: [Double]?
            }

            var aqi: LooseNumber
            var time: Time
            var city: Place?
        }

        var data: Content
    }
}

/// The way over the globe between two places in degrees (haversine).
func kilometers(_ latitude: Double, _ longitude: Double, _ otherLatitude: Double, _ otherLongitude: Double) -> Double {
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let (north, east) = (radians(otherLatitude - latitude) / 2, radians(otherLongitude - longitude) / 2)
    let (sine, cosine) = (sin(north), cos(radians(latitude)) * cos(radians(otherLatitude)))
    return 2 * 6371 * asin(min(1, (sine * sine + cosine * sin(east) * sin(east)).squareRoot()))
}
