import AirSources
import FeedSimulation
import Testing

@testable import AirQualityFeed

private let header = "city,latitude,longitude\n"

private func wrongRow(_ line: Int, _ row: String) -> String {
    "line \(line): city,latitude,longitude,id,country are \"\(row)\", "
        + "expected coordinates in degrees and other fields of at most 128 bytes of UTF-8"
}

struct CitySetTests {
    private func read(_ text: String) throws -> [PolledCity] { try PolledCity.list(csv: Array(text.utf8)) }

    @Test func `A list has names, places, ids and countries`() throws {
        let cities = try read("city,latitude,longitude,id\nDelhi,28.6,77.2,\n\"Fresno, CA\",36.74,-119.79,@42\n\n")
        #expect(
            cities == [
                PolledCity(name: "Delhi", latitude: 28.6, longitude: 77.2),
                PolledCity(name: "Fresno, CA", latitude: 36.74, longitude: -119.79, id: "@42"),
            ])
        #expect(
            try read("city,latitude,longitude,country\nBern,46.9,7.4,CH\nRome,41.9,12.5,\n").map(\.country) == [
                "CH", nil,
            ])
        #expect(try read("country,longitude,x,latitude,city\nCH,7.4,9,46.9,Bern\n")[0].country == "CH")
        #expect(try read("\u{FEFF}city,latitude,longitude\r\n Pune ,18,73\r\n").map(\.name) == ["Pune"])
    }

    @Test(
        arguments: [
            ("", "line 1: there is no column city, expected a header with city,latitude,longitude"),
            ("Delhi,1,2\n", "line 1: there is no column city, expected a header with city,latitude,longitude"),
            ("\n\ncity,x\n", "line 3: there is no column latitude, expected a header with city,latitude,longitude"),
            (header, "line 2: there are no cities"),
            (header + "A,1,2\nB,1\n", "line 3: the row has 2 fields, expected 3"),
            (header + "A,91,2\n", wrongRow(2, "A,91,2,,")), (header + "A,1,east\n", wrongRow(2, "A,1,east,,")),
            (header + "A,nan,2\n", wrongRow(2, "A,nan,2,,")), (header + " ,1,2\n", wrongRow(2, " ,1,2,,")),
            (header + "A\u{7},1,2\n", wrongRow(2, #"A\u{7},1,2,,"#)),
            (header + "A,1,2\nB,1,2\nA,3,4\n", #"line 4: the city "A" is already on line 2"#),
            (header + "\"A,1,2\n", "line 2: a quotation mark is not closed on the line"),
        ] as [(String, String)])
    func `A mistake in a list is reported with its line`(text: String, line: String) throws {
        let error = try #require(throws: RecordingError.self) { try read(text) }
        #expect(error.description == line)
    }

    @Test func `Two Unicode spellings of a name are two cities`() throws {
        #expect(try read(header + "S\u{E3}o,1,2\nSa\u{303}o,3,4\n").count == 2)
    }

    @Test func `A name that is not UTF-8 is rejected`() throws {
        let bytes = Array("city,latitude,longitude\nA".utf8) + [0xFF] + Array(",1,2\n".utf8)
        #expect(throws: RecordingError.self) { try PolledCity.list(csv: bytes) }
    }

    @Test(arguments: [(CitySet.seeds, 12), (.india, 300), (.capitals, 243)])
    func `The built-in sets have the expected number of cities, each with a country`(set: CitySet, count: Int) throws {
        let cities = try set.cities()
        #expect(cities.count == count)
        // Two letters each; Delhi's and New Delhi's are India's.
        #expect(cities.allSatisfy { $0.country?.utf8.count == 2 })
        #expect(cities.first { $0.name.hasSuffix("Delhi") }?.country == "IN")
    }

    @Test func `The seeds are the cities of the simulated feed`() throws {
        #expect(try CitySet.seeds.cities().map(\.name).prefix(3) == ["Mumbai", "Bengaluru", "Delhi"])
    }
}
