import Testing

@testable import AirSources

/// Documents in the shape of data.gov.in's resource "Real time Air Quality Index from various locations".
struct CPCBTests {
    private func rows(
        _ values: [(String, String)], city: String = "Delhi", station: String = "ITO, Delhi - CPCB",
        updated: String = "22-07-2026 00:00:00", member: String = "avg_value"
    ) -> [String] {
        values.map { pollutant, value in
            """
            {"country":"India","state":"Delhi","city":"\(city)","station":"\(station)","last_update":"\(updated)",
            "latitude":"28.6","longitude":"77.2","pollutant_id":"\(pollutant)","min_value":"1","\(member)":\(value)}
            """
        }
    }

    private func page(_ rows: [String], total: String? = nil) -> String {
        """
        {"index_name":"3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69","status":"ok","message":"Resource lists",
        "total":\(total ?? "\(rows.count)"),"count":\(rows.count),"limit":"300","offset":"0",
        "records":[\(rows.joined(separator: ","))]}
        """
    }

    private let good = [("PM2.5", "\"120\""), ("PM10", "90"), ("CO", "\"55\""), ("OZONE", "\"20\"")]
    private func source() -> CPCB { CPCB(cities: [delhi, pune], key: "k&y") }

    @Test func `The greatest sub-index of a station, the mean of the stations, the time of India`() throws {
        var source = source()
        let document = page(
            rows(good)
                + rows([("PM10", "\"201\""), ("NO2", "\"3\""), ("SO2", "\"4\"")], station: "Anand Vihar")
                + rows([("PM10", "\"500\""), ("NO2", "\"3\""), ("SO2", "\"4\"")], city: "Agra"))
        let findings = try source.findings(for: [0, 1]) { _ in document }
        // 2026-07-21 18:30 UTC; 160.5 rounded.
        #expect(try air(findings) == CityAir(index: 161, observedAt: 1_784_658_600, basis: "given"))
        #expect(try reason([findings[1]]) == "the set has no station in a city of that name")
    }

    @Test func `A time shortly ahead of the clock is now, because the exporter refuses one ahead`() throws {
        var source = source()
        let document = page(rows(good, updated: "22-07-2026 01:29:00"))
        #expect(try air(source.findings(for: [0]) { _ in document }).observedAt == now)
    }

    @Test func `The older names of the members are read as well`() throws {
        var source = source()
        let document = page(rows(good, member: "pollutant_avg"))
        #expect(try air(source.findings(for: [0]) { _ in document }).index == 120)
    }

    @Test func `NA is no value, and three pollutants with one of particulate matter are needed`() throws {
        var source = source()
        for values in [
            [("PM2.5", "\"NA\""), ("PM10", "\"NA\""), ("CO", "\"5\""), ("NO2", "\"5\""), ("SO2", "\"5\"")],
            [("PM2.5", "\"5\""), ("CO", "\"5\""), ("NO2", "\"NA\"")], [("PM2.5", "null"), ("CO", "\"\"")],
        ] {
            let document = page(rows(values))
            #expect(
                try reason(source.findings(for: [0]) { _ in document })
                    == "no station has averages of three pollutants, one of them pm2_5 or pm10")
        }
    }

    @Test func `A station that lags does not count, and one that is a day old is none`() throws {
        var source = source()
        let high = [("PM10", "400"), ("CO", "1"), ("NO2", "1")]
        let lagging = page(rows(good) + rows(high, station: "Old", updated: "21-07-2026 20:00:00"))
        #expect(try air(source.findings(for: [0]) { _ in lagging }).index == 120)
        let old = page(rows(good, updated: "20-07-2026 23:00:00"))
        #expect(try reason(source.findings(for: [0]) { _ in old }) == "its newest station is 25 hours old")
        let wrong = page(rows(good, updated: "2026-07-22") + rows(good, updated: "23-07-2026 12:00:00"))
        #expect(
            try reason(source.findings(for: [0]) { _ in wrong }) == "the set has no station in a city of that name")
    }

    @Test func `Pages of 300, and nothing is said before the last of them`() throws {
        var source = source()
        let all = (0..<620).flatMap { rows([("PM10", "\($0)")], station: "S\($0)") }
        var paths: [String] = []
        let findings = try source.findings(for: [0]) { path in
            paths.append(path)
            let offset = (paths.count - 1) * 300
            return page(Array(all[offset..<min(offset + 300, all.count)]), total: "\"620\"")
        }
        let start = "/resource/3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69?api-key=k%26y&format=json"
        #expect(paths == [0, 300, 600].map { start + "&offset=\($0)&limit=300" })
        #expect(findings.count == 1)
        #expect(try source.findings(for: [0]) { $0.contains("offset=300") ? nil : page([], total: "620") }.isEmpty)
    }

    @Test func `A city is named as the set names it, in any case`() throws {
        var source = CPCB(cities: [City(name: "New Delhi", latitude: 0, longitude: 0, id: "delhi")], key: "k")
        let document = page(rows(good))
        #expect(try air(source.findings(for: [0]) { _ in document }).index == 120)
    }

    @Test func `A row that is not as documented does not take the others with it`() throws {
        var source = source()
        let document = page([#"{"city":7}"#, "null", "[]"] + rows(good))
        #expect(try air(source.findings(for: [0]) { _ in document }).index == 120)
        #expect(try source.error(of: #"{"total":1,"records":{}}"#) == .unreadable("records has the wrong type"))
        #expect(try source.error(of: #"{"status":"error"}"#) == .unreadable("total is missing"))
    }
}
