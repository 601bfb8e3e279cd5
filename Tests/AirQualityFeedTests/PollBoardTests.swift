import AirQualityIndex
import AirSources
import Testing

import enum AirQuality.Pollutant

@testable import AirQualityFeed

struct PollBoardTests {
    private let cities = [
        City(name: "Delhi", latitude: 28.6, longitude: 77.2, country: "IN"),
        City(name: "Say \"hi\"", latitude: 0, longitude: 0), City(name: "Pune", latitude: 0, longitude: 0),
    ]

    private func text(_ messages: [[UInt8]]) -> [String] { messages.map { String(decoding: $0, as: UTF8.self) } }

    @Test func `An element has city, index, time, concentrations and what it rests on`() {
        let board = PollBoard(cities)
        #expect(text(board.everything()) == ["[]"])
        #expect(board.takeNews().isEmpty)
        board.post([
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
        #expect(board.hasNews)
        #expect(text(board.takeNews()) == ["[\(other),\(delhi)]"])
        #expect(text(board.everything()) == ["[\(delhi),\(other)]"])
        #expect(!board.hasNews)
    }

    @Test func `What did not change is no news`() {
        let board = PollBoard(cities)
        let air = CityAir(index: 75, observedAt: 7, basis: "24h")
        board.post([(0, air)])
        _ = board.takeNews()
        board.post([(0, air)])
        #expect(!board.hasNews)
        board.post([(0, CityAir(index: 76, observedAt: 7, basis: "24h"))])
        #expect(board.hasNews)
    }

    @Test func `Many cities are several messages`() {
        let board = PollBoard((0..<2500).map { City(name: "\($0)", latitude: 0, longitude: 0) })
        board.post((0..<2500).map { ($0, CityAir(index: 1, observedAt: 1, basis: "given")) })
        #expect(board.everything().count == 3)
        #expect(board.takeNews().count == 3)
    }
}
