import AirQualityIndex
import Testing

import enum AirQuality.Pollutant

@testable import AirQualityFeed
@testable import AirSources

struct LatestAirTests {
    private let cities = [
        PolledCity(name: "Delhi", latitude: 28.6, longitude: 77.2, country: "IN"),
        PolledCity(name: "Say \"hi\"", latitude: 0, longitude: 0), PolledCity(name: "Pune", latitude: 0, longitude: 0),
    ]

    private func text(_ messages: [[UInt8]]) -> [String] { messages.map { String(decoding: $0, as: UTF8.self) } }

    @Test func `An element has city, index, time, concentrations and what it rests on`() {
        let latest = LatestAir(cities)
        #expect(text(latest.all(at: .zero)) == ["[]"])
        let changes = latest.update(
            [
                (1, CityAir(index: 68, observedAt: 1_784_660_400, basis: "given", attribution: "An \"Agency\"")),
                (
                    0,
                    CityAir(
                        index: 75, observedAt: 7, concentrations: [.pm25: 45.25, .co: 300], subIndices: [.pm25: 75],
                        basis: "24h")
                ),
            ], at: .zero)
        let place = #""place":{"latitude":0,"longitude":0}"#
        let delhi =
            #"{"city":"Delhi","aqi":75,"time":7,"pollutants":{"co":300,"pm2_5":45.25},"subindices":{"pm2_5":75},"#
            + #""place":{"latitude":28.6,"longitude":77.2,"country":"IN"},"basis":"24h"}"#
        let other =
            #"{"city":"Say \"hi\"","aqi":68,"time":1784660400,\#(place),"basis":"given","attribution":"An \"Agency\""}"#
        #expect(text(changes) == ["[\(other),\(delhi)]"])
        #expect(text(latest.all(at: .zero)) == ["[\(delhi),\(other)]"])
    }

    @Test func `Air that did not change is sent only with all the rest`() {
        let latest = LatestAir(cities)
        let air = CityAir(index: 75, observedAt: 7, basis: "24h")
        #expect(!latest.update([(0, air)], at: .zero).isEmpty)
        #expect(latest.update([(0, air)], at: .zero).isEmpty)
        #expect(!latest.update([(0, CityAir(index: 76, observedAt: 7, basis: "24h"))], at: .zero).isEmpty)
    }

    @Test func `Air that the source has not confirmed for the lifetime is no longer sent`() {
        let latest = LatestAir(cities, lifetime: .seconds(3 * 3600))
        let air = CityAir(index: 480, observedAt: 7, basis: "given")
        _ = latest.update([(0, air), (2, air)], at: .zero)
        latest.confirm([2], at: .seconds(3600))
        func count(at time: Duration) -> Int { text(latest.all(at: time))[0].split(separator: "city").count - 1 }
        #expect(count(at: .seconds(3 * 3600)) == 2)
        #expect(count(at: .seconds(3 * 3600 + 1)) == 1)
        #expect(latest.isEmpty(at: .seconds(4 * 3600 + 1)))
        // It is news again when the source says it again.
        _ = latest.update([(0, air)], at: .seconds(5 * 3600))
        #expect(count(at: .seconds(5 * 3600)) == 1)
    }

    @Test func `The elements of a jq program are sent as they are, as long`() {
        let latest = LatestAir([])
        let elements = Array(#"[{"city":"A","aqi":1}]"#.utf8)
        #expect(latest.update(elements: elements, at: .zero) == elements)
        #expect(latest.all(at: .seconds(3 * 3600)) == [elements])
        #expect(text(latest.all(at: .seconds(3 * 3600 + 1))) == ["[]"])
    }

    @Test func `Many cities are several messages`() {
        let latest = LatestAir((0..<2500).map { PolledCity(name: "\($0)", latitude: 0, longitude: 0) })
        let changes = latest.update(
            (0..<2500).map { ($0, CityAir(index: 1, observedAt: 1, basis: "given")) }, at: .zero)
        #expect(changes.count == 3)
        #expect(latest.all(at: .zero).count == 3)
    }
}
