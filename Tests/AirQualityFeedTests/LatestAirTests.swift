import AirSources
import Testing

import enum AirQuality.Pollutant

@testable import AirQualityFeed
@testable import AirSources

struct LatestAirTests {
    private func text(_ messages: [[UInt8]]) -> [String] { messages.map { String(decoding: $0, as: UTF8.self) } }

    private func entries(_ texts: String...) -> [(city: Int, elements: [UInt8])] {
        texts.enumerated().map { ($0, Array($1.utf8)) }
    }

    @Test func `An element has city, index, time, concentrations, place and basis`() {
        let delhi = PolledCity(name: "Delhi", latitude: 28.6, longitude: 77.2, country: "IN")
        let air = CityAir(
            aqi: 75, observedAt: 7, concentrations: [.pm25: 45.25, .co: 300], subIndices: [.pm25: 75], basis: "24h")
        #expect(
            text([air.element(of: delhi)]) == [
                #"{"city":"Delhi","aqi":75.0,"time":7,"pollutants":{"co":300.0,"pm2_5":45.25},"#
                    + #""subindices":{"pm2_5":75.0},"#
                    + #""place":{"latitude":28.6,"longitude":77.2,"country":"IN"},"basis":"24h"}"#
            ])
        let other = PolledCity(name: "Say \"hi\"", latitude: 0, longitude: 0)
        let given = CityAir(aqi: 68, observedAt: 1_784_660_400, basis: "given", attribution: "An \"Agency\"")
        #expect(
            text([given.element(of: other)]) == [
                #"{"city":"Say \"hi\"","aqi":68.0,"time":1784660400,"subindices":{},"#
                    + #""place":{"latitude":0.0,"longitude":0.0},"basis":"given","attribution":"An \"Agency\""}"#
            ])
    }

    @Test func `All known air is sent in the order of the cities, and none is an empty message`() {
        var latest = LatestAir(lifetime: .seconds(3 * 3600))
        #expect(text(latest.all(at: .zero)) == ["[]"])
        #expect(latest.isEmpty(at: .zero))
        #expect(text(latest.update(entries(""), at: .zero)) == ["[]"])
        #expect(latest.isEmpty(at: .zero))
        #expect(text(latest.update(entries("1", "2").reversed(), at: .zero)) == ["[2,1]"])
        #expect(text(latest.all(at: .zero)) == ["[1,2]"])
        #expect(!latest.isEmpty(at: .zero))
    }

    @Test func `An update has only the elements that have changed`() {
        var latest = LatestAir(lifetime: .seconds(3 * 3600))
        #expect(text(latest.update(entries("1"), at: .zero)) == ["[1]"])
        #expect(latest.update(entries("1"), at: .zero).isEmpty)
        #expect(text(latest.update(entries("2"), at: .zero)) == ["[2]"])
    }

    @Test func `An element that the source has not confirmed for the lifetime is no longer sent`() {
        var latest = LatestAir(lifetime: .seconds(3 * 3600))
        _ = latest.update(entries("1", "2"), at: .zero)
        _ = latest.update(entries("1"), at: .seconds(3600))
        #expect(text(latest.all(at: .seconds(3 * 3600))) == ["[1,2]"])
        #expect(text(latest.all(at: .seconds(3 * 3600 + 1))) == ["[1]"])
        #expect(latest.isEmpty(at: .seconds(4 * 3600 + 1)))
        _ = latest.update(entries("1"), at: .seconds(5 * 3600))
        #expect(text(latest.all(at: .seconds(5 * 3600))) == ["[1]"])
    }

    @Test(arguments: [(1, 10_800), (900, 10_800), (7200, 10_800), (9900, 10_800), (21_600, 22_500)])
    func `A value lives for three hours, and at least until the next round`(interval: Int, lifetime: Int) {
        var options = PollOptions()
        options.interval = .seconds(interval)
        #expect(options.lifetime == .seconds(lifetime))
    }

    @Test func `The elements of many cities are split into several messages`() {
        var latest = LatestAir(lifetime: .seconds(3 * 3600))
        let changes = latest.update((0..<2500).map { ($0, [UInt8(ascii: "1")]) }, at: .zero)
        #expect(changes.count == 3)
        #expect(latest.all(at: .zero).count == 3)
    }
}
