import AirQualityIndex
import Testing

import enum AirQuality.Pollutant

@testable import AirSources

/// Documents in the shape of https://docs.openaq.org/api: `/v3/locations` and `/v3/sensors/{id}/hours`.
struct OpenAQTests {
    private func location(
        _ id: Int, last: Int64 = thisHour, isMonitor: Bool = true, isMobile: Bool = false, distance: Int = 1000,
        country: String = "FR", _ sensors: [(Int, String, String)]
    ) -> String {
        let list = sensors.map { id, name, units in
            #"{"id":\#(id),"name":"s","parameter":{"id":2,"name":"\#(name)","units":"\#(units)","displayName":null}}"#
        }
        return """
            {"id":\(id),"name":"L","timezone":"Asia/Kolkata","country":{"id":9,"code":"\(country)"},"isMobile":\(isMobile),"isMonitor":\(isMonitor),
            "sensors":[\(list.joined(separator: ","))],"coordinates":{"latitude":28.6,"longitude":77.2},
            "distance":\(distance),"datetimeLast":{"utc":"\(rfc3339(last))","local":"x"}}
            """
    }

    private func page(_ results: [String]) -> String {
        let list = results.joined(separator: ",")
        return #"{"meta":{"name":"openaq-api","website":"/","page":1,"limit":100,"found":1},"results":[\#(list)]}"#
    }

    /// A day of hours, by default up to the present one.
    private func hours(_ value: String, upTo newest: Int64 = thisHour) -> String {
        page(
            (0..<24).map { (age: Int64) in
                #"{"value":\#(value),"period":{"label":"1hour","datetimeTo":{"utc":"\#(rfc3339(newest - age * 3600))"}}}"#
            })
    }

    private let micrograms = "µg/m³"
    private func source(_ scale: IndexScale = .india) -> OpenAQ { OpenAQ(cities: [delhi], scale: scale, key: "k") }

    /// Findings about Delhi with these stations; `hours` is called with the number of each sensor.
    private func findings(
        scale: IndexScale = .us, _ stations: [String], hours: (_ sensor: Int) -> String?
    ) throws -> [CityFinding] {
        var source = source(scale)
        let stations = page(stations)
        return try source.findings(for: [0]) { path in
            path.hasPrefix("/v3/locations") ? stations : hours(sensor(of: path))
        }
    }

    /// The response to a document of the one sensor of Delhi, which measures PM2.5.
    private func response(toHours document: String) throws -> SourceResponse {
        var source = source(.us)
        let stations = Array(page([location(1, [(11, "pm25", micrograms)])]).utf8)
        let query = try source.read(stations, of: source.queries(for: [0], at: now)[0], at: now).queries[0]
        return try source.read(Array(document.utf8), of: query, at: now)
    }

    /// The number of the sensor whose hours are asked for.
    private func sensor(of path: String) -> Int { Int(path.split(separator: "/")[2]) ?? 0 }

    /// The sensors whose hours are asked for, in their order.
    private func sensors(_ stations: [String]) throws -> [Int] {
        var asked: [Int] = []
        _ = try findings(stations) { sensor in
            asked.append(sensor)
            return hours("9")
        }
        return asked
    }

    @Test func `Stations are asked for first, then the hours of their sensors, with the key in a header`() throws {
        var source = source()
        let query = try #require(source.queries(for: [0], at: now).first)
        #expect(query.path == "/v3/locations?coordinates=28.652,77.2315&radius=25000&limit=1000")
        #expect(query.headers == ["X-API-Key: k"])
        let document = page([location(1, [(11, "pm25", micrograms), (12, "temperature", "c"), (13, "o3", "furlongs")])])
        let result = try source.read(Array(document.utf8), of: query, at: now)
        #expect(result.findings.isEmpty)
        #expect(result.queries.map(\.path) == ["/v3/sensors/11/hours?datetime_from=2026-07-20T18:00:00.000Z&limit=100"])
        var city = delhi
        city.id = "8118"
        var named = OpenAQ(cities: [city], scale: .india, key: "k")
        #expect(named.queries(for: [0], at: now)[0].path == "/v3/locations/8118")
    }

    @Test func `A city has the mean of its stations' hours, in µg/m³ whatever the unit`() throws {
        let values = [11: "30", 12: "10", 13: "0.5", 21: "60"]
        let findings = try findings(
            scale: .india,
            [
                location(1, [(11, "pm25", micrograms), (12, "no2", "ppb"), (13, "co", "ppm")]),
                location(2, [(21, "pm25", "μg/m³")]),
            ]
        ) { hours(values[$0]!) }
        #expect(findings.count == 1)
        let air = try air(findings)
        #expect(air.aqi == 75)
        #expect(air.observedAt == thisHour)
        #expect(air.concentrations == [.pm25: 45, .no2: 18.82, .co: 572.8])
    }

    /// Since 18 February 2025 numbers of India's gases are in µg/m³ and mg/m³ under the label ppb, as
    /// `EndToEnd/live/test_recordings.py` shows. Ozone is in ppb, and no city has 1,200 mg/m³ of carbon monoxide.
    @Test func `India's label ppb is right for ozone, and for a number that is too high in mg/m³`() throws {
        let station = location(1, country: "IN", [(11, "pm25", micrograms), (14, "co", "ppb"), (15, "o3", "ppb")])
        let air = try air(findings([station]) { hours($0 == 14 ? "1200" : "30") })
        #expect(air.concentrations == [.pm25: 30, .co: 1374.73, .o3: 58.89])
    }

    @Test func `The newest hour is that of the pollutants that the index includes`() throws {
        let station = location(1, [(11, "pm25", micrograms), (12, "nh3", micrograms)])
        let air = try air(findings([station]) { hours("9", upTo: $0 == 11 ? thisHour - 5 * 3600 : thisHour) })
        #expect(air.aqi == 50)
        #expect(air.observedAt == thisHour - 5 * 3600)
        #expect(air.concentrations == [.pm25: 9, .nh3: 9])
    }

    @Test func `The nearest stations are found among hundreds that are farther away or dead`() throws {
        let many = (1...250).map { number in
            location(
                number, last: number <= 120 ? now - 90 * 86_400 : thisHour, distance: number == 250 ? 900 : 17_000,
                [(number, "pm25", micrograms)])
        }
        let asked = try sensors(many)
        #expect(asked.first == 250)
        #expect(asked.count == 3)
    }

    @Test func `A spike to the instrument's maximum is left out and named`() throws {
        let values = (0..<24).map { (age: Int64) in
            #"{"value":\#(age == 2 ? 985 : 40),"period":{"datetimeTo":{"utc":"\#(rfc3339(thisHour - age * 3600))"}}}"#
        }
        let response = try response(toHours: page(values))
        #expect(response.omissions == [Omission("hours that are spikes", "pm2_5 of Delhi")])
        #expect(try air(response.findings).aqi == 112)
        // Values that last or rise by less are kept; a rise to the maximum is believed an hour late.
        for (values, expected) in [
            ([0: 40.0, 1: 985, 2: 40], [0: 40.0, 2: 40]), ([0: 40, 1: 985, 2: 985, 3: 40], nil),
            ([0: 985, -1: 40], [-1: 40]), ([0: 985], nil), ([0: 985, -3: 40], [-3: 40]), ([0: 985, -4: 40], nil),
            ([0: 250, -1: 10], nil), ([0: 900, -1: 200], nil),
        ] as [([Int: Double], [Int: Double]?)] {
            var hours = PollutantHours()
            for (hour, value) in values { hours.add(value, at: hour) }
            hours.leaveOutSpikes()
            #expect(hours.hours.values == expected ?? values)
        }
    }

    @Test func `The three stations are reference monitors first, then the nearest, and none that moves`() throws {
        let asked = try sensors([
            location(1, distance: 900, [(11, "pm25", micrograms)]),
            location(2, last: now - 25 * 3600, distance: 1, [(21, "pm25", micrograms)]),
            location(3, isMonitor: false, distance: 2, [(31, "pm25", micrograms)]),
            location(4, isMobile: true, distance: 3, [(41, "pm25", micrograms)]),
            location(5, distance: 100, [(51, "pm25", micrograms)]), #"{"id":"broken"}"#,
            location(6, isMonitor: false, distance: 1, [(61, "pm25", micrograms)]),
        ])
        #expect(asked == [51, 11, 61])
    }

    @Test func `Each pollutant has its own nearest stations, each with its newest sensor`() throws {
        let near = (1...3).map { location($0, distance: $0, [($0, "no2", micrograms)]) }
        let far = location(4, distance: 400, [(41, "pm25", micrograms), (43, "pm25", "ppb"), (42, "no2", micrograms)])
        #expect(try sensors(near + [far]) == [1, 2, 3, 41])
        let replaced = location(5, [(11, "pm25", micrograms), (13, "pm25", micrograms), (12, "pm25", micrograms)])
        #expect(try sensors([replaced]) == [13])
    }

    @Test func `Without values of particulate matter there is no index`() throws {
        let station = location(1, [(11, "pm25", micrograms), (12, "no2", micrograms)])
        let findings = try findings([station]) { $0 == 12 ? hours("9") : page([]) }
        #expect(try reason(findings) == "no station gives pm2_5 or pm10 now")
    }

    @Test(
        arguments: [
            ("-0.4", 0.0, ["small negative values, which count as 0"]),
            ("\"-0.4\"", 0, ["small negative values, which count as 0"]),
            ("-5", 0, ["small negative values, which count as 0"]), ("\" 7 \"", 7, []),
            ("-5.1", nil, ["hours with a value out of range", "sensors without an hour of the last day"]),
            ("-999", nil, ["hours with a value out of range", "sensors without an hour of the last day"]),
            ("1000001", nil, ["hours with a value out of range", "sensors without an hour of the last day"]),
            ("\"high\"", nil, ["hours without a value that can be read", "sensors without an hour of the last day"]),
            ("null", nil, ["hours without a value that can be read", "sensors without an hour of the last day"]),
        ] as [(String, Double?, [String])])
    func `Values that are changed or left out are named`(value: String, expected: Double?, reasons: [String]) throws {
        let response = try response(toHours: hours(value))
        #expect(response.omissions == Set(reasons.map { Omission($0, "pm2_5 of Delhi") }))
        if let expected {
            #expect(try air(response.findings).concentrations == [.pm25: expected])
        } else {
            #expect(try reason(response.findings) == "no hour has a value")
        }
    }

    @Test func `Hours that were not requested are not kept`() throws {
        let response = try response(toHours: hours("9", upTo: thisHour - 27 * 3600))
        #expect(try reason(response.findings) == "no hour has a value")
    }

    @Test func `Hours without a time or in the future are left out and named`() throws {
        let document = hours("9").replacing(
            #""results":["#,
            with: #""results":[7,{"value":8},{"value":8,"period":{"datetimeTo":{"utc":"yesterday"}}},"#
                + #"{"value":8,"period":{"datetimeTo":{"utc":"2026-07-22T19:00:00Z"}}},"#
                + #"{"value":99,"period":{"datetimeTo":{"utc":"\#(rfc3339(now + 1800))"}}},"#)
        let response = try response(toHours: document)
        #expect(
            response.omissions == [
                Omission("hours without a time that can be read", "pm2_5 of Delhi"),
                Omission("hours in the future", "pm2_5 of Delhi"),
            ])
        #expect(try air(response.findings).aqi == 50)
    }

    @Test func `Stations and sensors that are left out are named with the reason`() throws {
        let document = page([
            location(1, [(11, "pm25", micrograms), (12, "o3", "furlongs"), (13, "temperature", "c")]),
            location(2, isMobile: true, [(21, "pm25", micrograms)]),
            location(3, last: now - 25 * 3600, [(31, "pm25", micrograms)]), #"{"sensors":[{"id":41}]}"#,
            location(5, []).replacing("\"sensors\":[]", with: "\"sensors\":[{\"id\":51},7]"),
        ])
        #expect(
            try source().response(to: document).omissions == [
                Omission("sensors with an unknown unit", "o3 in furlongs, location 1, L"),
                Omission("mobile stations", "location 2, L"),
                Omission("stations that have not reported within a day", "location 3, L"),
                Omission("stations that have not reported within a day", "location , "),
            ])
    }

    @Test func `Without a live station that measures particulate matter the reason says so`() throws {
        let old = location(2, last: now - 25 * 3600, [(21, "pm25", micrograms)])
        let mobile = location(3, isMobile: true, [(31, "pm25", micrograms)])
        let others = [
            location(1, [(11, "pm25", "furlongs"), (12, "no2", micrograms), (13, "temperature", "c")]), location(4, []),
        ]
        for stations in [[], [old], [mobile], [mobile, old], others] {
            #expect(
                try reason(source().findings(in: page(stations)))
                    == "no station within 25 km has reported pm25 or pm10 in a known unit within a day")
        }
        var city = delhi
        city.id = "8118"
        var named = OpenAQ(cities: [city], scale: .india, key: "k")
        #expect(
            try reason(named.findings(for: [0]) { _ in page([old]) })
                == "no station with the id 8118 has reported pm25 or pm10 in a known unit within a day")
        // Asked again at the next round.
        #expect(named.queries(for: [0], at: now)[0].path.hasPrefix("/v3/locations"))
    }

    @Test func `A sensor that is silent for a day is skipped until the stations are looked up again`() throws {
        var source = source(.us)
        let stations = page([location(1, [(11, "pm25", micrograms), (12, "pm10", micrograms)])])
        let air = try air(
            source.findings(for: [0]) { path in
                path.hasPrefix("/v3/locations") ? stations : path.contains("/11/") ? hours("9") : page([])
            })
        #expect(air.aqi == 50)
        // The present hour is there: nothing to ask. An hour later only the live sensor is asked.
        #expect(source.queries(for: [0], at: now).isEmpty)
        #expect(source.queries(for: [0], at: now + 3600).map { sensor(of: $0.path) } == [11])
        #expect(source.queries(for: [0], at: now + 24 * 3600)[0].path.hasPrefix("/v3/locations"))
    }

    @Test func `A sensor that responds without hours once keeps the ones it had`() throws {
        var source = source(.us)
        let stations = page([location(1, [(11, "pm25", micrograms)])])
        _ = try source.findings(for: [0]) { $0.hasPrefix("/v3/locations") ? stations : hours("9") }
        let query = source.queries(for: [0], at: now + 3600)[0]
        let response = try source.read(Array(page([]).utf8), of: query, at: now + 3600)
        #expect(try air(response.findings).aqi == 50)
        #expect(source.queries(for: [0], at: now + 7200).map { sensor(of: $0.path) } == [11])
    }

    @Test func `A city's air comes when its last sensor has responded or been given up`() throws {
        let stations = page([1, 2].map { location($0, [($0, "pm25", micrograms), ($0 + 10, "pm10", micrograms)]) })
        var source = source(.us)
        func findings(silent: Set<Int>) throws -> [CityFinding] {
            try source.findings(for: [0]) { path in
                path.hasPrefix("/v3/locations") ? stations : silent.contains(sensor(of: path)) ? nil : hours("9")
            }
        }
        let one = try findings(silent: [2, 11])
        #expect(one.count == 1)
        #expect(try air(one).aqi == 50)
        source = self.source(.us)
        // An index without a pollutant may be far too low, so it waits for another round.
        #expect(try reason(findings(silent: [11, 12])) == "no sensor of pm10 has responded")
        #expect(try air(findings(silent: [11, 12])).aqi == 50)
    }

    @Test func `A duplicate station counts once, and one without a distance comes last`() throws {
        let far = location(2, distance: 20_000, [(21, "pm25", micrograms)])
        let stations = [
            location(1, [(11, "pm25", micrograms)]).replacing("\"distance\":1000", with: "\"distance\":null"), far, far,
            location(3, distance: 10, [(31, "pm25", micrograms)]), location(4, distance: 9, [(41, "pm25", micrograms)]),
        ]
        #expect(try sensors(stations) == [41, 31, 21])
        let omissions = try source().response(to: page(stations)).omissions
        #expect(omissions == [Omission("duplicate stations", "location 2, L")])
    }

    @Test(arguments: [("2", false), ("\"2\"", false), ("3", true), ("\">2\"", true), ("null", false)])
    func `An incomplete list of stations is named`(found: String, isNamed: Bool) throws {
        let document = page([location(1, [(11, "pm25", micrograms)]), location(2, [(21, "pm25", micrograms)])])
            .replacing("\"found\":1", with: "\"found\":\(found)")
        let omissions = try source().response(to: document).omissions
        #expect(omissions.map(\.reason) == (isNamed ? ["incomplete station lists"] : []))
    }

    @Test func `A time without a zone is UTC, as documented`() throws {
        let station = location(1, [(11, "pm25", micrograms)]).replacing(".000Z", with: "")
        let document = hours("9").replacing(".000Z", with: "")
        #expect(try air(findings([station]) { _ in document }).observedAt == thisHour)
    }

    @Test func `A document that is not as specified is an error`() throws {
        #expect(try source().error(of: #"{"results":{}}"#) == .unreadable("results has the wrong type"))
        #expect(try source().error(of: #"{"message":"x"}"#) == .unreadable("results is missing"))
    }
}
