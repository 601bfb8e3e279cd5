internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// The World Air Quality Index project: indices of stations worldwide on the US scale with the breakpoints of 2016.
///
/// Documented at https://aqicn.org/json-api/doc/. `iaqi` holds sub-indices; there are no concentrations. `time.v` is
/// the station's local time as if it were UTC, so `time.iso` is read instead.
struct WAQI: AirSource {
    let cities: [PolledCity]
    let token: String

    func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        due.map { index in
            let city = cities[index]
            let feed = city.id.map { Self.path(of: $0) } ?? "geo:\(degrees(city.latitude));\(degrees(city.longitude))"
            return SourceQuery(
                path: "/feed/\(feed)/?token=" + percentEncoded(token.utf8), subject: city.name,
                cities: [index])
        }
    }

    /// - Parameter id: of a station, `@1437`, or of a city, `beijing` or `usa/california/fresno`.
    private static func path(of id: String) -> String {
        let name = id.utf8.drop { $0 == UInt8(ascii: "@") }
        return (id.hasPrefix("@") ? "@" : "") + percentEncoded(name, keepsSlashes: true)
    }

    func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        let index = query.cities[0]
        let station: JSONNode
        do throws(SourceError) {
            station = try document(in: body)["data"].object()
            // For an unknown station id the error is inside a successful response.
            if station["status"].scalar == "error" { throw .failed(station["msg"].text ?? "it gives no reason") }
        } catch SourceError.failed(let text) where explanation(in: body) != nil {
            // About the station; without a reason it is the source that fails, as with the status `nug`.
            return SourceResponse(findings: [CityFinding(city: index, reason: onOneLine(text))])
        }
        var response = SourceResponse()
        let finding = CityFinding(
            city: index, try air(of: station, for: cities[index], at: now, &response.omissions))
        response.findings = [finding]
        return response
    }

    private func air(
        of station: JSONNode, for city: PolledCity, at now: Int64, _ omissions: inout Set<Omission>
    ) throws(AirUnavailable) -> CityAir {
        guard case .value(let aqi) = AQIValue(station["aqi"].scalar) else {
            throw AirUnavailable("the station gives no index")
        }
        // Falls back to the parts of `iso`; a dead station has neither.
        let time = station["time"]
        let iso = time["iso"].exists ? time["iso"].scalar : time["s"].scalar
        let observedAt = epochSeconds(iso, zone: time["tz"].scalar)
        guard let observedAt, observedAt <= now + 3600, now - observedAt <= staleAfter else {
            throw AirUnavailable(iso.isEmpty ? "the station gives no time" : "the station's time is \(iso.prefix(40))")
        }
        try checkPlace(of: station, for: city)
        var subIndices: [Pollutant: Double] = [:]
        for pollutant in Pollutant.allCases {
            let name = pollutant == .pm25 ? "pm25" : pollutant.rawValue
            switch AQIValue(station["iaqi"][name]["v"].scalar) {
            case .value(let value): subIndices[pollutant] = value
            case .unusable: omissions.insert(Omission("values that are not sub-indices", "\(name) of \(city.name)"))
            case .missing: continue
            }
        }
        let names = ((try? station["attributions"].elements()) ?? []).compactMap { $0["name"].text }
        let attribution = onOneLine(String(names.joined(separator: "; ").unicodeScalars.prefix(300)))
        return CityAir(
            aqi: aqi, observedAt: min(observedAt, now), subIndices: subIndices, basis: "given",
            attribution: attribution.isEmpty ? nil : attribution)
    }

    private func checkPlace(of station: JSONNode, for city: PolledCity) throws(AirUnavailable) {
        if let id = city.id {
            // The token `demo` gets the same station for every request.
            guard id.hasPrefix("@"), let wanted = Int(id.dropFirst()), wanted > 0 else { return }
            if station["idx"].looseNumber != Double(wanted) {
                throw AirUnavailable("it gives another station in place of \(id)")
            }
            return
        }
        guard let degrees = try? station["city"]["geo"].elements(), degrees.count == 2,
            let distance = city.kilometers(to: degrees[0].looseNumber, degrees[1].looseNumber)
        else { throw AirUnavailable("the station gives no place") }
        // The service returns the nearest station at any distance.
        guard distance <= PolledCity.maximumKilometers else {
            throw AirUnavailable("the nearest station is \(Int(distance)) km away")
        }
    }
}

extension DataSource {
    public static let waqi = DataSource(
        name: "waqi", baseURL: "https://api.waqi.info", needsKey: true, givenScale: .us,
        // The limit is 1,000 a minute.
        rate: CallRate(calls: 120, per: .seconds(60)), kind: .stations, license: "aqicn.org/api/tos"
    ) { WAQI(cities: $0.cities, token: $0.key ?? "") }
}
