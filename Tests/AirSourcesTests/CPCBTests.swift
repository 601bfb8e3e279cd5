import Testing

import enum AirQuality.Pollutant

@testable import AirSources

let noStation = "it has no station with coordinates and a time within 50 km in a city of that name"

/// Documents in the shape of data.gov.in's resource "Real time Air Quality Index from various locations".
struct CPCBTests {
    private func rows(
        _ values: [(String, String)], city: String = "Delhi", station: String = "ITO, Delhi - CPCB",
        updated: String = "22-07-2026 00:00:00", member: String = "avg_value",
        place: (latitude: String, longitude: String) = ("\"28.6\"", "\"77.2\"")
    ) -> [String] {
        values.map { pollutant, value in
            """
            {"country":"India","state":"Delhi","city":"\(city)","station":"\(station)","last_update":"\(updated)",
            "latitude":\(place.latitude),"longitude":\(place.longitude),"pollutant_id":"\(pollutant)","min_value":"1",
            "\(member)":\(value)}
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
    private let source = CPCB(cities: [delhi, pune], key: "k&y")

    /// Delhi's index when each query is answered with these rows.
    private func aqi(of rows: [String]) throws -> Double { try air(source.findings(in: page(rows))).aqi }

    @Test func `A city has the mean of its stations' greatest sub-indices, timed in Indian time`() throws {
        var source = source
        let document = page(
            rows(good) + rows([("PM10", "\"201\""), ("NO2", "\"3\""), ("SO2", "\"4\"")], station: "Anand Vihar")
                + rows([("PM10", "\"500\""), ("NO2", "\"3\""), ("SO2", "\"4\"")], city: "Agra"))
        let findings = try source.findings(for: [0, 1]) { _ in document }
        // 2026-07-21 18:30 UTC; 160.5 rounded.
        let expected = CityAir(
            aqi: 161, observedAt: 1_784_658_600,
            subIndices: [.pm25: 120, .pm10: 146, .co: 55, .o3: 20, .no2: 3, .so2: 4], basis: "given")
        #expect(try air(findings) == expected)
        #expect(try reason([findings[1]]) == noStation)
    }

    /// Coordinates had such blanks for Cuttack and Pali.
    @Test func `Blanks around coordinates, values and times do not matter`() throws {
        let values = good.map { ($0, $1.replacing("\"120\"", with: "\" 120 \"")) }
        let place = ("\"28.6     \"", "\" 77.2\"")
        #expect(try aqi(of: rows(values, updated: " 22-07-2026 00:00:00 ", place: place)) == 120)
    }

    @Test func `Stations that are left out are named with the reason`() throws {
        let document = page(
            rows(good) + rows([("PM10", "9")], station: "A", place: ("\"\"", "77.2"))
                + rows([("PM10", "9")], station: "B", place: ("\"95\"", "77.2"))
                + rows([("PM10", "9")], station: "C", place: ("19.9", "75.3"))
                + rows([("PM10", "9")], station: "D", updated: "23-07-2026 00:00:00")
                + rows([("PM10", "99999")], station: "E") + rows([("PM10", "9")], city: "Agra", station: "F"))
        #expect(
            try source.response(to: document).omissions == [
                Omission("stations without coordinates within 50 km of the city of their name", "A"),
                Omission("stations without coordinates within 50 km of the city of their name", "B"),
                Omission("stations without coordinates within 50 km of the city of their name", "C"),
                Omission("stations without a time that can be read, or in the future", "D"),
                Omission("averages that are not sub-indices", "pm10 of E"),
                Omission("stations without an index and averages that make one", "E"),
            ])
    }

    @Test func `A time slightly ahead of the clock becomes now, as the exporter rejects future ones`() throws {
        let document = page(rows(good, updated: "22-07-2026 01:29:00"))
        #expect(try air(source.findings(in: document)).observedAt == now)
    }

    @Test func `The older names of the members are accepted as well`() throws {
        #expect(try aqi(of: rows(good, member: "pollutant_avg")) == 120)
    }

    @Test func `NA is no value, and three pollutants are needed, one of them particulate matter`() throws {
        for values in [
            [("PM2.5", "\"NA\""), ("PM10", "\"NA\""), ("CO", "\"5\""), ("NO2", "\"5\""), ("SO2", "\"5\"")],
            [("PM2.5", "\"5\""), ("CO", "\"5\""), ("NO2", "\"NA\"")], [("PM2.5", "null"), ("CO", "\"\"")],
        ] {
            #expect(
                try reason(source.findings(in: page(rows(values))))
                    == "no station has averages of three pollutants, one of them pm2_5 or pm10")
        }
    }

    @Test func `A station that lags is ignored, and one that is a day old gives no air`() throws {
        let high = [("PM10", "400"), ("CO", "1"), ("NO2", "1")]
        #expect(try aqi(of: rows(good) + rows(high, station: "Old", updated: "21-07-2026 20:00:00")) == 120)
        for (rows, text) in [
            (rows(good, updated: "20-07-2026 23:00:00"), "its newest station is 25 hours old"),
            (rows(good, updated: "2026-07-22") + rows(good, updated: "23-07-2026 12:00:00"), noStation),
        ] { #expect(try reason(source.findings(in: page(rows))) == text) }
    }

    private static let start = "/resource/3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69?api-key=k%26y&format=json"

    /// The numbers of the rows that a path asks for.
    private func asked(_ path: String) -> Range<Int> {
        let numbers = path.split(separator: "&offset=")[1].split(separator: "&limit=").compactMap { Int($0) }
        return numbers[0]..<numbers[0] + numbers[1]
    }

    /// The set's response to a path, with at most this many rows at once.
    private func response(_ path: String, _ all: [String], atOnce most: Int = 300) -> String {
        page(Array(all[asked(path).clamped(to: 0..<all.count)].prefix(most)), total: "\"\(all.count)\"")
    }

    /// Cities in the order of the set, each with seven rows; Delhi's rows are at `place` among the others.
    private func set(of count: Int, delhiAt place: Int) -> [String] {
        let seven = ["PM2.5", "PM10", "NO2", "NH3", "SO2", "CO", "OZONE"].map { ($0, "\"60\"") }
        return (0..<count).flatMap { number in
            number == place ? rows(seven) : rows(seven, city: "Town \(number)", station: "S\(number)")
        }
    }

    /// Findings about Delhi with these responses, and the paths; a look at the set begins with its first row.
    private func poll(
        _ respond: (_ path: String, _ look: Int) -> String?
    ) throws -> (findings: [CityFinding], paths: [String], looks: Int) {
        var source = source
        var paths: [String] = []
        var looks = 0
        let findings = try source.findings(for: [0]) { path in
            paths.append(path)
            if path.contains("offset=0&") { looks += 1 }
            return respond(path, looks)
        }
        return (findings, paths, looks)
    }

    @Test func `Pages have 300 rows, and findings come only with the last page`() throws {
        let all = set(of: 89, delhiAt: 44)
        let (findings, paths, _) = try poll { path, _ in response(path, all) }
        #expect(paths == [0, 300, 600].map { Self.start + "&offset=\($0)&limit=300" })
        #expect(findings.count == 1)
        #expect(try air(findings).aqi == 60)
    }

    @Test func `A key that gets fewer rows at once still gets all of them, page by page`() throws {
        let all = set(of: 89, delhiAt: 88)
        let (findings, paths, _) = try poll { path, _ in response(path, all, atOnce: 100) }
        #expect(
            paths.map { $0.split(separator: "&offset=")[1] }
                == stride(from: 0, to: 623, by: 100).map { "\($0)&limit=300" })
        #expect(try air(findings).aqi == 60)
    }

    @Test func `A key that would need hundreds of pages is rejected`() throws {
        let all = set(of: 300, delhiAt: 0)
        #expect(
            try source.error(of: response(Self.start + "&offset=0&limit=300", all, atOnce: 10))
                == .refused("the key gives 10 of 2100 rows at once"))
    }

    @Test func `Rows that move between two pages are found at the second look`() throws {
        let all = set(of: 89, delhiAt: 42)
        // At the first look the last rows of the first page are missing, and its first ones come twice.
        let (findings, _, looks) = try poll { path, look in
            guard look == 1, path.contains("offset=0&") else { return response(path, all) }
            return page(Array(all[..<294]) + Array(all[..<6]), total: "623")
        }
        #expect(looks == 2)
        #expect(try air(findings).aqi == 60)
    }

    @Test func `Missing rows are reported, and no city gets air without them`() throws {
        for place in [3, 42] {
            let all = set(of: 89, delhiAt: place)
            let (findings, _, looks) = try poll { path, look in
                // Other rows come instead of six in the middle of the set, more of them with each look.
                let lost = 295 - look..<300
                let rows = asked(path).clamped(to: 0..<all.count).map { lost.contains($0) ? $0 + 10 * look : $0 }
                return page(rows.map { all[$0] }, total: "623")
            }
            #expect(looks == 3)
            #expect(try reason(findings) == "the key gives 617 of 623 rows")
        }
    }

    @Test(arguments: [70, 623])
    func `A duplicate row costs only another look`(place: Int) throws {
        var all = set(of: 89, delhiAt: 9)
        // On the page of the first one, or on another.
        all.insert(all[8], at: place)
        let (findings, _, looks) = try poll { [all] path, _ in response(path, all) }
        #expect(try air(findings).aqi == 60)
        #expect(looks == 2)
    }

    @Test func `A row lost at the same place of each page is found when pages begin elsewhere`() throws {
        var all = set(of: 89, delhiAt: 0)
        all[5] = rows([("CO", "\"310\"")])[0]
        let (findings, _, _) = try poll { [all] path, _ in
            var rows = Array(all[asked(path).clamped(to: 0..<all.count)])
            if rows.count > 5 { rows.remove(at: 5) }
            return page(rows, total: "623")
        }
        #expect(try air(findings).aqi == 310)
    }

    @Test func `A missing page ends the round without air`() throws {
        let all = set(of: 89, delhiAt: 3)
        let (findings, _, _) = try poll { path, _ in asked(path).contains(450) ? nil : response(path, all) }
        #expect(findings.isEmpty)
    }

    private let maharashtra = PolledCity(name: "Aurangabad", latitude: 19.8758, longitude: 75.3393)
    private let bihar = PolledCity(name: "Aurangabad (Bihar)", latitude: 24.752, longitude: 84.3742)

    @Test func `Two cities with the same name have their own stations`() throws {
        var source = CPCB(cities: [maharashtra, bihar], key: "k")
        let document = page(
            rows(good, city: "Aurangabad", station: "Padegaon", place: ("19.901", "75.307"))
                + rows(
                    [("PM10", "\"47\""), ("CO", "1"), ("NO2", "2")], city: "Aurangabad", station: "Gurdeo Nagar",
                    place: ("24.758", "84.366")))
        let findings = try source.findings(for: [0, 1]) { _ in document }
        #expect(try air(findings).aqi == 120)
        #expect(try air([findings[1]]).aqi == 47)
    }

    @Test func `A station without coordinates is ignored if it may be in another city of that name`() {
        let (here, elsewhere) = ((19.901, 75.307), (24.758, 84.366))
        func aqi(of cities: [PolledCity], _ places: [(Double, Double)?]) -> Double? {
            var stations = CPCBStations(cities)
            for (index, place) in places.enumerated() {
                stations.add(
                    CPCBStations.Row(
                        city: "Aurangabad", station: "\(index)", updatedAt: now, latitude: place?.0,
                        longitude: place?.1, aqi: "\(10 * index)"), at: now)
            }
            return try? stations.air(of: 0, at: now).aqi
        }
        #expect(aqi(of: [maharashtra], [nil]) == nil)
        #expect(aqi(of: [maharashtra], [nil, here, here]) == 15)
        #expect(aqi(of: [maharashtra], [nil, elsewhere]) == nil)
        #expect(aqi(of: [maharashtra], [nil, here, elsewhere]) == 10)
        #expect(aqi(of: [maharashtra, bihar], [nil]) == nil)
    }

    @Test(arguments: [
        ("Sholapur", "Solapur"), ("Tiruppur", "Tirupur"), ("Davangere", "Davanagere"), ("Mangaluru", "Mangalore"),
        ("Tumkur", "Tumakuru"), ("Chanda", "Chandrapur"), ("Saugor", "Sagar"), ("Murwara", "Katni"),
        ("Mahesana", "Mehsana"), ("Bhayandar", "Mira-Bhayandar"), ("Ahilyanagar", "Ahmednagar"), ("Chapra", "Chhapra"),
        ("Gorakhpur (Uttar Pradesh)", "Gorakhpur"), ("New Delhi", "Delhi"), ("Greater Noida", "Greater_Noida"),
    ])
    func `A city is found by its alternative name`(name: String, other: String) throws {
        let source = CPCB(cities: [PolledCity(name: name, latitude: 28.6, longitude: 77.2)], key: "k")
        #expect(try air(source.findings(in: page(rows(good, city: other)))).aqi == 120)
    }

    @Test func `A city's id is the name in the set, in any case`() throws {
        let source = CPCB(cities: [PolledCity(name: "Capital", latitude: 28.6, longitude: 77.2, id: "delhi")], key: "k")
        #expect(try air(source.findings(in: page(rows(good)))).aqi == 120)
    }

    @Test func `A malformed row does not affect the others`() throws {
        #expect(try aqi(of: [#"{"city":7}"#, "null", "[]"] + rows(good)) == 120)
        #expect(try source.error(of: #"{"total":1,"records":{}}"#) == .unreadable("records has the wrong type"))
        #expect(try source.error(of: #"{"status":"ok"}"#) == .unreadable("total is missing"))
    }

    @Test func `Older values of a duplicate station do not replace newer ones`() throws {
        let late = rows([("PM2.5", "\"300\""), ("NH3", "\"7\"")], updated: "21-07-2026 22:00:00")
        for table in [late + rows(good), rows(good) + late] {
            let findings = try poll { path, _ in response(path, table) }.findings
            #expect(try air(findings).aqi == 120)
            #expect(try air(findings).subIndices[.nh3] == 7)
        }
    }

    @Test func `An average that lags behind its station is ignored`() throws {
        #expect(try aqi(of: rows(good) + rows([("NH3", "\"400\"")], updated: "20-07-2026 22:00:00")) == 120)
    }

    @Test(arguments: ["0", "-1", "1.5", String(repeating: "0", count: 41)])
    func `A set without rows is an error`(total: String) throws {
        #expect(try source.error(of: page([], total: "\"\(total)\"")) == .unreadable("total is \(total.prefix(40))"))
    }

    @Test func `An error in a successful response is classified by its text`() throws {
        for (document, error) in [
            (#"{"error":{"code":"429","message":"Too many requests"}}"#, SourceError.busy("Too many requests")),
            (#"{"status":"error"}"#, .failed("it gives no reason")),
            (#"{"status":"error","message":"Data not available"}"#, .failed("Data not available")),
            (#"{"error":"Key not authorised"}"#, .refused("Key not authorised")),
            (#"{"status":"error","message":"Rate limit exceeded"}"#, .busy("Rate limit exceeded")),
        ] { #expect(try source.error(of: document) == error) }
    }
}
