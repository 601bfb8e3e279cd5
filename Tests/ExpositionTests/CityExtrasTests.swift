import Exposition
import TestSupport
import Testing

@testable import AirQuality

struct CityExtrasTests {
    private static let format = FeedFormat(pollutantsField: "p", subindicesField: "s", placeField: "where")

    @Test func `Sub-indices and places are shown beside concentrations, each with its own limits`() {
        var test = TestStore(format: Self.format)
        test.receive(
            #"[{"city":"Pune","aqi":7,"p":{"pm10":12000},"s":{"pm10":9999,"o3":10000,"no2":"7"},"#
                + #""where":{"latitude":18.52,"longitude":-0.5,"country":"IN","altitude":9}},{"city":"A","aqi":1}]"#)
        #expect(
            test.lines("airquality_concentration_ugm3") == [
                #"airquality_concentration_ugm3{city="Pune",pollutant="pm10"} 12000"#
            ])
        #expect(
            test.lines("airquality_subindex") == [
                #"airquality_subindex{city="Pune",pollutant="pm10"} 9999"#,
                #"airquality_subindex{city="Pune",pollutant="no2"} 7"#,
            ])
        #expect(
            test.lines("airquality_city_info") == [
                #"airquality_city_info{city="A",feed="ws://feed.example/",country="",latitude="",longitude=""} 1"#,
                #"airquality_city_info{city="Pune",feed="ws://feed.example/",country="IN",latitude="18.52",longitude="-0.5"} 1"#,
            ])
        // Unknown names are reported only in objects of pollutants.
        #expect(test.decoder.takeUnknownPollutants().isEmpty)
    }

    @Test(
        arguments: [
            (#"{"latitude":-90,"longitude":180}"#, #"country="",latitude="-90",longitude="180""#),
            (#"{"latitude":90.1,"longitude":-180.1,"country":"x"}"#, #"country="x",latitude="",longitude="""#),
            (#"{"latitude":"1e1","longitude":null,"country":7}"#, #"country="",latitude="10",longitude="""#),
            (#"{"country":" a\"\\b "}"#, #"country="a\"\\b",latitude="",longitude="""#),
            ("{}", #"country="before",latitude="",longitude="""#),
            ("null", #"country="before",latitude="",longitude="""#),
            ("[1]", #"country="before",latitude="",longitude="""#),
            (#"{"country":"a\nb"}"#, #"country="before",latitude="",longitude="""#),
        ])
    func `Unusable parts of a place are empty, and without a place the previous one stays`(
        _ place: String, _ labels: String
    ) {
        var test = TestStore(format: Self.format)
        test.receive(#"{"city":"Pune","aqi":7,"where":{"country":"before"}}"#)
        test.receive(#"{"city":"Pune","aqi":7,"where":\#(place)}"#)
        #expect(
            test.lines("airquality_city_info") == [
                "airquality_city_info{city=\"Pune\",feed=\"ws://feed.example/\",\(labels)} 1"
            ])
        #expect(test.rejections.isEmpty)
    }

    @Test func `A country of up to 64 bytes of any kind is shown, and a longer one is ignored`() {
        var test = TestStore(format: Self.format)
        let quotes = String(repeating: #"\""#, count: 64)
        test.receive(
            #"{"city":"Pune","aqi":7,"where":{"country":"\#(quotes)","latitude":-12.345678901234567,"longitude":1e-300}}"#
        )
        #expect(test.lines("airquality_city_info").first?.contains(quotes) == true)
        test.receive(#"{"city":"Pune","aqi":7,"where":{"country":"\#(String(repeating: "x", count: 65))"}}"#)
        #expect(test.lines("airquality_city_info").first?.contains(quotes) == true)
    }

    @Test func `Each city has its feed, whatever families are shown`() {
        var test = TestStore(format: Self.format, feeds: [#"a "feed""#])
        test.receive(#"{"city":"Pune","aqi":7,"where":{"country":"IN"}}"#)
        var page: [UInt8] = []
        Exposition(families: [.index]).render(test.store.snapshot(), in: .text004, to: &page)
        let line = #"airquality_city_info{city="Pune",feed="a \"feed\"",country="",latitude="",longitude=""} 1"#
        #expect(String(decoding: page, as: UTF8.self).contains(line))
    }

    @Test func `Sub-indices and places are kept until others come, and are removed with their city`() {
        var test = TestStore(expireAfter: 1000, format: Self.format)
        test.receive(#"{"city":"Pune","aqi":7,"p":{"pm10":1},"s":{"pm10":2},"where":{"country":"IN"}}"#)
        test.receive(#"{"city":"Pune","aqi":8,"s":{"o3":3}}"#)
        #expect(test.lines("airquality_subindex") == [#"airquality_subindex{city="Pune",pollutant="o3"} 3"#])
        #expect(test.concentrations(of: "Pune") == "pm10 1.0")
        #expect(test.lines("airquality_city_info").count == 1)
        _ = test.store.expire(at: TestStore.start + 2000)
        test.receive(#"{"city":"Delhi","aqi":8}"#)
        #expect(test.lines("airquality_city_info").allSatisfy { $0.contains("Delhi") && $0.contains(#"country="""#) })
        #expect(test.lines("airquality_subindex").isEmpty)
    }
}
