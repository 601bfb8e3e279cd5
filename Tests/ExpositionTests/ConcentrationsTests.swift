import Bytes
import Exposition
import TestSupport
import Testing

@testable import AirQuality

struct ConcentrationsTests {
    static let format = FeedFormat(timeField: "time", pollutantsField: "pollutants")

    @Test(
        arguments: [
            (
                #"{"pm2_5":58.1,"pm10":120,"no2":0,"so2":-0,"o3":1e3,"co":1000000,"nh3":"7.5"}"#,
                "pm2_5 58.1, pm10 120.0, no2 0.0, so2 0.0, o3 1000.0, co 1000000.0, nh3 7.5"
            ),
            (#"{"pm10":120,"pm2_5":1}"#, "pm2_5 1.0, pm10 120.0"),
            (#"{"pm2_5":-0.1,"pm10":1000000.1,"no2":1e9,"so2":2}"#, "so2 2.0"),
            (#"{"pm2_5":" 12\t","pm10":"","no2":"NA","so2":"-1","o3":"1e9","co":"0x10","nh3":"inf"}"#, "pm2_5 12.0"),
            (#"{"pm2_5":null,"pm10":true,"no2":[1],"so2":{"v":1},"o3":4}"#, "o3 4.0"),
            (#"{"PM2.5":1,"pm1":2,"pm10":3}"#, "pm2_5 1.0, pm10 3.0"), ("{}", ""), ("[]", ""), ("[{}]", ""), ("7", ""),
            ("true", ""), (#""58.1""#, ""), (#"{"pm10":1,"pm10":"x"}"#, "pm10 1.0"),
        ])
    func `Concentrations are numbers from 0 to a million, also as text`(_ pollutants: String, _ expected: String) {
        var test = TestStore(format: Self.format)
        test.receive(#"[{"city":"Delhi","aqi":1},{"city":"Pune","aqi":7,"pollutants":\#(pollutants)}]"#)
        #expect(test.concentrations(of: "Pune") == expected)
        #expect(test.concentrations(of: "Delhi") == "")
        // The reading counts whatever the concentrations are.
        #expect(test.cities == ["Delhi 1.0", "Pune 7.0"])
        #expect(test.rejections.isEmpty)
    }

    @Test func `Concentrations are replaced by an element with the field and kept without it`() {
        var test = TestStore(format: Self.format)
        test.receive(#"{"city":"Pune","aqi":7,"pollutants":{"pm2_5":1,"o3":2}}"#)
        test.receive(#"{"city":"Pune","aqi":8}"#)
        test.receive(#"{"city":"Pune","aqi":9,"pollutants":null}"#)
        #expect(test.concentrations(of: "Pune") == "pm2_5 1.0, o3 2.0")
        test.receive(#"{"city":"Pune","aqi":7,"pollutants":{"pm10":3}}"#)
        #expect(test.concentrations(of: "Pune") == "pm10 3.0")
        // Both are readings, in their order.
        test.receive(
            #"[{"city":"Pune","aqi":7,"pollutants":{"pm10":4}},{"city":"Pune","aqi":7,"pollutants":{"pm10":5}},{"city":"Pune","aqi":7}]"#
        )
        #expect(test.concentrations(of: "Pune") == "pm10 5.0")
        for none in ["{}", "[]", #""NA""#, #"{"pm10":"NA"}"#] {
            test.receive(#"{"city":"Pune","aqi":7,"pollutants":\#(none)}"#)
            #expect(test.concentrations(of: "Pune") == "pm10 5.0")
        }
    }

    @Test func `Concentrations of a rejected element are ignored`() {
        var test = TestStore(cityLimit: 2, format: Self.format)
        let now = TestStore.start / 1000
        test.receive(
            #"[{"city":"Pune","aqi":1,"time":\#(now),"pollutants":{"pm10":1}},{"city":"Delhi","aqi":2,"time":\#(now)}]"#
        )
        test.receive(
            #"[{"city":"Pune","aqi":1,"time":\#(now - 9),"pollutants":{"pm10":2}},{"city":"Surat","aqi":1,"pollutants":{"pm10":3}},"#
                + #"{"city":"Delhi","aqi":-1,"pollutants":{"pm10":4}},{"aqi":1,"pollutants":{"pm10":5}},{"city":"Goa","pollutants":{"pm10":6}}]"#
        )
        #expect(test.concentrations(of: "Pune") == "pm10 1.0")
        #expect(test.concentrations(of: "Delhi") == "")
        #expect(test.rejections == ["bad_time": 1, "city_limit": 1, "out_of_range": 1, "no_city": 1, "no_value": 1])
    }

    @Test func `Concentrations are removed with their city, and a new city starts without any`() {
        var test = TestStore(expireAfter: 60_000, format: FeedFormat(pollutantsField: "pollutants"))
        test.receive(#"{"city":"Pune","aqi":7,"pollutants":{"pm2_5":1}}"#)
        test.receive(#"{"city":"Delhi","aqi":7,"pollutants":{"pm2_5":2}}"#, at: TestStore.start + 30_000)
        #expect(test.store.expire(at: TestStore.start + 70_000) == 1)
        #expect(!test.text().contains("Pune"))
        test.receive("Surat", 3, at: TestStore.start + 70_000)
        test.receive("Pune", 3, at: TestStore.start + 70_000)
        #expect(
            test.lines("airquality_concentration_ugm3") == [
                #"airquality_concentration_ugm3{city="Delhi",pollutant="pm2_5"} 2"#
            ])
    }

    @Test func `Unknown pollutants are reported once, and at most ten names`() {
        var test = TestStore(format: Self.format)
        test.receive(#"[{"city":"a","aqi":1,"pollutants":{"pm10":1,"pm1":2,"PM10":3}},{"city":"b","aqi":1}]"#)
        #expect(test.decoder.takeUnknownPollutants() == ["pm1"])
        test.receive(#"{"city":"a","aqi":1,"pollutants":{"pm1":2,"dust\n":3}}"#)
        #expect(test.decoder.takeUnknownPollutants() == ["dust\n"])
        let long = String(repeating: "x", count: 1000)
        let others = (0..<20).map { #""\#($0)\#(long)":1"# }.joined(separator: ",")
        test.receive(#"{"city":"a","aqi":1,"pollutants":{\#(others)}}"#)
        let names = test.decoder.takeUnknownPollutants()
        #expect(names.count == 8)
        #expect(names.allSatisfy { $0.utf8.count == 128 })
        test.receive(#"{"city":"a","aqi":1,"pollutants":{"pm1":2,"another":3}}"#)
        #expect(test.decoder.takeUnknownPollutants().isEmpty)
    }

    static func busyStore() -> TestStore {
        var test = TestStore(format: format)
        let source = FeedSource(name: "open-meteo", kind: "model", license: "CC BY 4.0")
        test.store.apply(.connected(source), feed: 0)
        test.receive(
            #"[{"city":"Mumbai","aqi":183.2,"pollutants":{"nh3":1,"co":412.5,"o3":3,"so2":4,"no2":5,"pm10":120,"pm2_5":58.1}},"#
                + #"{"city":"A \"quoted\\name\"","aqi":50,"pollutants":{"o3":"61.02"}},{"city":"Pune","aqi":50}]"#)
        return test
    }

    @Test(arguments: ExpositionFormat.allCases)
    func `Concentrations and the source match the golden page in each format`(_ format: ExpositionFormat) throws {
        let end = format == .openMetrics100 ? "om" : "prom"
        try expectGolden(Self.busyStore().page(format), named: "concentrations.\(format).\(end)")
    }
}
