import AirQualityIndex
import Testing

import enum AirQuality.Pollutant

@testable import AirQualityFeed
@testable import AirSources

struct LatestAirTests {
    private let cities = [
        City(name: "Delhi", latitude: 28.6, longitude: 77.2, country: "IN"),
        City(name: "Say \"hi\"", latitude: 0, longitude: 0), City(name: "Pune", latitude: 0, longitude: 0),
    ]

    private func text(_ messages: [[UInt8]]) -> [String] { messages.map { String(decoding: $0, as: UTF8.self) } }

    @Test func `An element has city, index, time, concentrations and what it rests on`() {
        let latest = LatestAir(cities)
        #expect(text(latest.all()) == ["[]"])
        #expect(latest.takeChanges().isEmpty)
        latest.update([
            (1, CityAir(index: 68, observedAt: 1_784_660_400, basis: "given", attribution: "An \"Agency\"")),
            (
                0,
                CityAir(
                    index: 75, observedAt: 7, concentrations: [.pm25: 45.25, .co: 300], subIndices: [.pm25: 75],
                    basis: "24h")
            ),
        ])
        let place = #""place":{"latitude":0,"longitude":0}"#
        let delhi =
            #"{"city":"Delhi","aqi":75,"time":7,"pollutants":{"co":300,"pm2_5":45.25},"subindices":{"pm2_5":75},"#
            + #""place":{"latitude":28.6,"longitude":77.2,"country":"IN"},"basis":"24h"}"#
        let other =
            #"{"city":"Say \"hi\"","aqi":68,"time":1784660400,\#(place),"basis":"given","attribution":"An \"Agency\""}"#
        #expect(latest.hasChanges)
        #expect(text(latest.takeChanges()) == ["[\(other),\(delhi)]"])
        #expect(text(latest.all()) == ["[\(delhi),\(other)]"])
        #expect(!latest.hasChanges)
    }

    @Test func `What did not change is no news`() {
        let latest = LatestAir(cities)
        let air = CityAir(index: 75, observedAt: 7, basis: "24h")
        latest.update([(0, air)])
        _ = latest.takeChanges()
        latest.update([(0, air)])
        #expect(!latest.hasChanges)
        latest.update([(0, CityAir(index: 76, observedAt: 7, basis: "24h"))])
        #expect(latest.hasChanges)
    }

    @Test func `Many cities are several messages`() {
        let latest = LatestAir((0..<2500).map { City(name: "\($0)", latitude: 0, longitude: 0) })
        latest.update((0..<2500).map { ($0, CityAir(index: 1, observedAt: 1, basis: "given")) })
        #expect(latest.all().count == 3)
        #expect(latest.takeChanges().count == 3)
    }
}
