import AirQualityIndex
import Testing

import enum AirQuality.Pollutant

@testable import AirSources

/// Documents in the shape of CPCB's own feed.
struct CPCBFeedTests {
    private func document(_ stations: String, end: String = "</City></State></Country></AqIndex>") -> String {
        """
        <?xml version='1.0' encoding='UTF-8'?>
        <AqIndex>
        <Country id="India"><State id="Goa"/><State id="Delhi"><City id="Delhi">
        \(stations)
        \(end)
        """
    }

    private func station(
        _ name: String, _ values: [(String, String)], aqi: String, updated: String = "22-07-2026 00:00:00"
    ) -> String {
        let pollutants = values.map { name, value in
            #"<Pollutant_Index id="\#(name)" Min="1" Max="999" Avg="\#(value)" Hourly_sub_index="7"/>"#
        }
        return """
            <Station id="\(name)" lastupdate="\(updated)" latitude="28.63" longitude="77.22">
            \(pollutants.joined(separator: "\n"))
            <Air_Quality_Index Value="\(aqi)" Predominant_Parameter="PM10"/>
            </Station>
            """
    }

    private let source = CPCBFeed(cities: [delhi, pune])

    @Test func `A city has the mean of CPCB's own indices of its stations`() throws {
        var source = source
        let text = document(
            station("ITO &amp; more", [("PM2.5", "60"), ("PM10", "97"), ("CO", "NA")], aqi: "97")
                + station("B", [("PM2.5", "62")], aqi: "62") + station("C", [("PM10", "500")], aqi: ""))
        var paths: [String] = []
        let findings = try source.findings(for: [0, 1]) { path in
            paths.append(path)
            return text
        }
        #expect(paths == ["/caaqms/rss_feed"])
        // The mean of 97 and 62; a station without an index does not count.
        let expected = CityAir(
            aqi: 80, observedAt: 1_784_658_600, subIndices: [.pm25: 61, .pm10: 97], basis: "given")
        #expect(try air(findings) == expected)
        #expect(try reason([findings[1]]) == noStation)
    }

    @Test func `Blanks around coordinates, values and times do not matter`() throws {
        let text = document(station("A", [("PM10", " 97 ")], aqi: " 97 ", updated: " 22-07-2026 00:00:00 "))
            .replacing("\"28.63\"", with: "\"28.63     \"").replacing("\"77.22\"", with: "\" 77.22\"")
        #expect(try air(source.findings(in: text)).aqi == 97)
    }

    private static let midnight = "22-07-2026 00:00:00"

    @Test(
        arguments: [
            ("B", "9", "21-07-2026 19:00:00", "that lag more than three hours behind their city", "B"),
            ("B", "9", "", "without a time that can be read, or in the future", "B"),
            ("B", "9", "yesterday", "without a time that can be read, or in the future", "B"),
            ("B", "", midnight, "without an index and averages that make one", "B"),
            ("B", "NA", midnight, "without an index and averages that make one", "B"),
            ("B", "99999", midnight, "whose index is out of range", "B"),
            ("B", "-1", midnight, "whose index is out of range", "B"),
            ("B", "bad", midnight, "whose index is out of range", "B"),
            ("", "9", midnight, "without a name of at most 256 bytes", "in Delhi"),
            (" ", "9", midnight, "without a name of at most 256 bytes", "in Delhi"),
            (String(repeating: "B", count: 257), "9", midnight, "without a name of at most 256 bytes", "in Delhi"),
        ])
    func `A station that is left out is named with the reason`(
        station name: String, aqi: String, updated: String, reason: String, shown: String
    ) throws {
        let averages = [("PM2.5", "300"), ("PM10", "NA"), ("CO", "7")]
        let text = document(station("A", [], aqi: "97") + station(name, averages, aqi: aqi, updated: updated))
        let response = try source.response(to: text)
        #expect(response.omissions == [Omission("stations \(reason)", shown)])
        #expect(try air(response.findings).aqi == 97)
    }

    @Test func `Invalid averages and unknown pollutants are named`() throws {
        let text = document(station("A", [("PM10", "97"), ("CO", "few"), ("NO2", "-2"), ("PM1", "5")], aqi: "97"))
        let response = try source.response(to: text)
        #expect(
            response.omissions == [
                Omission("averages that are not sub-indices", "co of A"),
                Omission("averages that are not sub-indices", "no2 of A"),
                Omission("averages of unknown pollutants", "PM1 of A"),
            ])
        #expect(try air(response.findings).subIndices == [.pm10: 97])
    }

    @Test func `A document that is cut off or not XML is rejected`() throws {
        let good = document(station("A", [("PM10", "9")], aqi: "9"))
        for text in [
            "", "<", "<html></html>", String(good.prefix(200)), String(good.dropLast(3)), "{\"total\":1}", "<a b='",
            "<a b=\"c", "<a b=c d", "<AqIndex", "<a =\"\"><b/ c>",
        ] { #expect(try source.error(of: text) == .unreadable("it is not XML with a complete AqIndex")) }
        #expect(try reason(source.findings(in: document(""))) == noStation)
    }

    @Test func `A city's name of more than 256 bytes is no city's`() throws {
        let text = document(station("A", [], aqi: "9"))
        for (count, isKnown) in [(251, true), (252, false)] {
            let name = "Delhi" + String(repeating: " ", count: count)
            let findings = try source.findings(in: text.replacing("City id=\"Delhi\"", with: "City id=\"\(name)\""))
            #expect(((try? air(findings)) != nil) == isKnown)
        }
    }
}
