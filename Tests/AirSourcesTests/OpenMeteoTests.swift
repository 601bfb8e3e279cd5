import AirQualityIndex
import Testing

import enum AirQuality.Pollutant

@testable import AirSources

/// Documents in the shape of https://open-meteo.com/en/docs/air-quality-api, "JSON Return Object".
struct OpenMeteoTests {
    private func source(_ cities: [PolledCity] = [delhi], maximumCost: Int = 400, key: String? = nil) -> OpenMeteo {
        OpenMeteo(cities: cities, scale: .india, key: key, maximumCost: maximumCost)
    }

    /// A place with one value for all hours up to the present one, and another for the hours to come.
    private func place(_ values: [(String, String)], future: Int = 4, coming: String = "900") -> String {
        let hours = Array(-43...future)
        let times = hours.map { "\(thisHour + Int64($0) * 3600)" }.joined(separator: ",")
        let series = values.map { name, value in
            "\"\(name)\":[\(hours.map { $0 > 0 ? coming : value }.joined(separator: ","))]"
        }
        return """
            {"latitude":28.6,"longitude":77.2,"generationtime_ms":0.5,"utc_offset_seconds":0,"timezone":"GMT",
            "hourly_units":{"time":"unixtime","pm10":"μg/m³"},
            "hourly":{"time":[\(times)],\(series.joined(separator: ","))}}
            """
    }

    private let three = [("pm2_5", "45"), ("nitrogen_dioxide", "20.5"), ("sulphur_dioxide", "8")]

    @Test func `A query asks for all pollutants of yesterday and today, for many places at once`() throws {
        let queries = source([delhi, pune]).queries(for: [0, 1], at: now)
        #expect(
            queries.map(\.path) == [
                "/v1/air-quality?latitude=28.652,18.5196&longitude=77.2315,73.8554"
                    + "&hourly=pm2_5,pm10,nitrogen_dioxide,sulphur_dioxide,ozone,carbon_monoxide,ammonia"
                    + "&past_days=1&forecast_days=1&timeformat=unixtime"
            ])
        #expect(queries.map(\.cost) == [2])
        #expect(source(key: "a&b").queries(for: [0], at: now)[0].path.hasSuffix("&apikey=a%26b"))
    }

    @Test func `A query has at most fifty places, and no more than the rate allows at once`() {
        let cities = Array(repeating: delhi, count: 120)
        #expect(source(cities).queries(for: Array(0..<120), at: now).map(\.cost) == [50, 50, 20])
        #expect(source(cities, maximumCost: 7).queries(for: Array(0..<15), at: now).map(\.cost) == [7, 7, 1])
        #expect(source(cities).queries(for: [], at: now).isEmpty)
    }

    @Test func `A place has an index, its hour and its newest concentrations, without hours to come`() throws {
        #expect(
            try air(source().findings(in: place(three)))
                == CityAir(
                    aqi: 75, observedAt: thisHour, concentrations: [.pm25: 45, .no2: 20.5, .so2: 8],
                    subIndices: [.pm25: 75, .no2: 26, .so2: 10], basis: "24h"))
    }

    @Test(arguments: [Int64.min, Int64.min + 1, -3600, 1 << 60])
    func `An hour that is impossibly early or late is ignored`(time: Int64) throws {
        let document = #"{"hourly":{"time":[\#(time)],"pm2_5":[45],"pm10":[45],"ozone":[45],"nitrogen_dioxide":[4]}}"#
        #expect(try reason(source().findings(in: document)) == "no hour has a value")
    }

    @Test func `Concentrations whose index the exporter would reject give no index`() throws {
        let document = place([("pm2_5", "65535"), ("nitrogen_dioxide", "20.5"), ("sulphur_dioxide", "8")])
        #expect(try reason(source().findings(in: document)).hasPrefix("the index would be "))
    }

    @Test func `Several places come as an array in the order of the query`() throws {
        var source = source([delhi, pune])
        let document = "[\(place(three)),\(place([("pm2_5", "60"), ("ozone", "10"), ("carbon_monoxide", "300")]))]"
        let findings = try source.findings(for: [1, 0]) { _ in document }
        #expect(findings.map(\.city) == [1, 0])
        #expect(try findings.map { try $0.air.get().aqi } == [75, 100])
    }

    @Test func `A malformed place is named by its position, and the others have air`() throws {
        var source = source([delhi, pune])
        let findings = try source.findings(for: [0, 1]) { _ in "[{\"error\":true},\(place(three))]" }
        #expect(try reason(findings) == "[0].hourly.time is missing")
        #expect(try air([findings[1]]).aqi == 75)
    }

    @Test func `Hours of null are missing, and a pollutant with nothing but null is left out`() throws {
        let hours = (0..<24).map { $0 < 16 ? "45" : "null" }.joined(separator: ",")
        let times = (0..<24).map { "\(thisHour - Int64($0) * 3600)" }.joined(separator: ",")
        let nulls = Array(repeating: "null", count: 24).joined(separator: ",")
        let document =
            #"{"hourly":{"time":[\#(times)],"pm2_5":[\#(hours)],"ozone":[\#(hours)],"#
            + #""carbon_monoxide":[\#(hours)],"ammonia":[\#(nulls)]}}"#
        let air = try air(source().findings(in: document))
        #expect(air.aqi == 75)
        #expect(air.concentrations.keys.contains(.nh3) == false)
    }

    @Test func `Hours that are a day old give no air`() throws {
        var source = source()
        let document = place(three, future: 0)
        #expect(
            try reason(source.findings(for: [0], at: now + 25 * 3600) { _ in document })
                == "the newest value is 25 hours old")
    }

    @Test(arguments: [
        (#"{"hourly":{"time":["soon"],"pm10":[9]}}"#, "hourly.time[0] has the wrong type"),
        (#"{"hourly":{"time":[1784660400],"pm10":[1,2]}}"#, "pm10 has 2 values for 1 hours"),
        (#"{"hourly":{"pm10":[1]}}"#, "hourly.time is missing"), (#"{"hourly":null}"#, "hourly.time is missing"),
        ("{}", "hourly.time is missing"),
    ])
    func `The malformed part of a place is named`(document: String, text: String) throws {
        #expect(try reason(source().findings(in: document)) == text)
    }

    @Test(
        arguments: [
            ("[]", .unreadable("it has 0 places, expected 1")), ("[{},{}]", .unreadable("it has 2 places, expected 1")),
            ("", .unreadable("it is not JSON")), (#"{"hourly":{"ti"#, .unreadable("it is not JSON")),
            ("<html>502</html>", .unreadable("it is not JSON")),
            ("[" + String(repeating: "1,", count: 300_000) + "1]", .unreadable("it has more than 300000 values")),
            (#"{"error":true,"reason":"Daily request limit exceeded."}"#, .busy("Daily request limit exceeded.")),
        ] as [(String, SourceError)])
    func `A document without the places is an error`(document: String, error: SourceError) throws {
        #expect(try source().error(of: document) == error)
    }

    @Test func `Numbers may be text, small negative ones count as 0, and invalid ones are named`() throws {
        let document = place(
            [
                ("pm2_5", "\" 45.0 \""), ("nitrogen_dioxide", "-0.3"), ("sulphur_dioxide", "8"), ("pm10", "-999"),
                ("ozone", "1e9"), ("ammonia", "\"low\""),
            ], coming: "7")
        let response = try source().response(to: document)
        #expect(try air(response.findings).concentrations == [.pm25: 45, .no2: 0, .so2: 8])
        #expect(
            response.omissions == [
                Omission("small negative values, which count as 0", "no2 of Delhi"),
                Omission("hours with a value out of range", "pm10 of Delhi"),
                Omission("hours with a value out of range", "o3 of Delhi"),
                Omission("hours without a value that can be read", "nh3 of Delhi"),
            ])
    }
}
