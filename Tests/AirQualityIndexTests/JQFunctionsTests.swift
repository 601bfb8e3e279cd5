import AirQuality
import System
import Testing

@testable import AirQualityIndex
@testable import JQ

/// The functions for users' jq programs against the poller's own index.
struct JQFunctionsTests {
    private static func result(_ input: String, _ function: String) throws -> String {
        var interpreter = try JQInterpreter(JQProgram(function, prelude: IndexScale.jqDefinitions))
        return String(decoding: try interpreter.run(Array(input.utf8).span), as: UTF8.self)
    }

    /// The results of a function for several inputs.
    private static func results(_ inputs: [String], _ function: String) throws -> [Double?] {
        let text = try result("[" + inputs.joined(separator: ",") + "]", "[.[] | \(function) // \"none\"]")
        return text.dropFirst().dropLast().split(separator: ",").map { Double($0) }
    }

    /// Values around each breakpoint of a curve, in µg/m³.
    private static func values(_ scale: IndexScale, _ pollutant: Pollutant) -> [Double] {
        let breakpoints: [Double] =
            switch (scale, pollutant) {
            case (.india, .co): [1, 1.1, 2, 2.1, 10, 10.1, 17, 17.1, 34, 34.1, 51].map { $0 * 1000 }
            case (.india, _): Breakpoints.india[pollutant]?.points.map(\.concentration) ?? []
            case (.eu, _): Breakpoints.europe[pollutant]?.points.map(\.concentration) ?? []
            case (.us, .pm25): Breakpoints.pm25.points.map(\.concentration)
            case (.us, .pm10): Breakpoints.pm10.points.map(\.concentration)
            case (.us, let gas):
                [
                    Pollutant.no2: Breakpoints.no2.points.map(\.concentration),
                    .so2: Breakpoints.so2.points.map(\.concentration),
                    .co: Breakpoints.co.points.map { $0.concentration * 1000 },
                    .o3: (Breakpoints.ozone8Hours.points + Breakpoints.ozoneHour.points).map(\.concentration),
                ][gas, default: []].map { $0 * (gas.microgramsPerPPB ?? 0) }
            }
        let around = breakpoints.flatMap { [$0, $0 - 0.01, $0 + 0.01, $0 * 0.999, $0 * 1.001, $0 + 0.5, $0 * 1.5] }
        let maximum = pollutant.isParticulateMatter ? 999.0 : 1e6
        return (around + [0, 0.05, 7.3]).filter { (0...maximum).contains($0) }
    }

    @Test(arguments: IndexScale.allCases, Pollutant.allCases)
    func `Lasting concentrations have the poller's index at every breakpoint`(
        _ scale: IndexScale, _ pollutant: Pollutant
    ) throws {
        let values = Self.values(scale, pollutant)
        #expect(!values.isEmpty && (!scale.includes(pollutant) || values.count > 20))
        // Clean particles, so that there is an index on each scale.
        let inputs = values.map { pollutant == .pm25 ? "{pm25: \($0)}" : "{pm25: 0, \"\(pollutant.rawValue)\": \($0)}" }
            .map { $0.replacing("pm25", with: "\"pm25\"") }
        let found = try Self.results(inputs, "\(scale.rawValue)_aqi")
        #expect(found.count == values.count)
        for (value, aqi) in zip(values, found) {
            var air: [Pollutant: Hours] = [:]
            for pollutant in Pollutant.allCases {
                air[pollutant] = Hours(Dictionary(uniqueKeysWithValues: (977...1000).map { ($0, 0) }))
            }
            air[pollutant] = Hours(Dictionary(uniqueKeysWithValues: (977...1000).map { ($0, value) }))
            #expect(aqi == (try scale.indices(of: air, at: 1000)).aqi, "\(value)")
        }
    }

    @Test(
        arguments: [
            (#"{"PM2.5": 58.1, "pm 10": "120"}"#, "india_aqi", "[114]"), (#"{"pm2_5": 9.04}"#, "us_aqi", "[50]"),
            (#"{"no2": 50}"#, "india_aqi", "[null]"), (#"{"no2": 50}"#, "us_aqi", "[null]"),
            (#"{"no2": 50}"#, "eu_aqi", "[54]"), ("{}", "eu_aqi", "[null]"), (#"{"OZONE": 100.1}"#, "eu_aqi", "[40]"),
            (#"{"pm25": 999.9, "pm10": 40}"#, "india_aqi", "[40]"), (#"{"pm25": 999.9}"#, "us_aqi", "[null]"),
            (#"{"pm25": -1, "pm10": null}"#, "india_aqi", "[null]"),
            (#"{"pm25": "x", "pm10": 40}"#, "india_aqi", "[40]"),
            (#"{"pm25": 12, "name": "Pune", "list": [1]}"#, "india_aqi", "[20]"),
        ])
    func `Names are those that people write, and what cannot be a measurement is none`(
        input: String, function: String, expected: String
    ) throws { #expect(try Self.result(input, function) == expected) }

    @Test func `Errors have the lines of the user's program`() {
        let program = JQProgram("\n  .a | nosuch", prelude: IndexScale.jqDefinitions)
        let error = #expect(throws: SystemError.self) { try compile(program) }
        let line = error.map { program.located($0.reason) }
        #expect(line?.contains("line 2") == true)
    }

    private func compile(_ program: JQProgram) throws(SystemError) { _ = try JQInterpreter(program) }
}
