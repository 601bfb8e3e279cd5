import AirQuality
import Foundation
import Testing

@testable import AirQualityIndex

/// One class of one pollutant as CPCB prints it, typed from its table independently of ours.
private struct PrintedClass: Sendable, CustomTestStringConvertible {
    var pollutant: Pollutant
    var concentrations: ClosedRange<Double>
    var indices: ClosedRange<Double>
    var testDescription: String { "\(pollutant) \(concentrations)" }

    private static func row(_ pollutant: Pollutant, _ ranges: ClosedRange<Double>...) -> [PrintedClass] {
        let indices = [0...50, 51...100, 101...200, 201...300, 301...400.0]
        return zip(ranges, indices).map { PrintedClass(pollutant: pollutant, concentrations: $0, indices: $1) }
    }

    static let all =
        row(.pm25, 0...30, 31...60, 61...90, 91...120, 121...250)
        + row(.pm10, 0...50, 51...100, 101...250, 251...350, 351...430)
        + row(.no2, 0...40, 41...80, 81...180, 181...280, 281...400)
        + row(.so2, 0...40, 41...80, 81...380, 381...800, 801...1600)
        + row(.co, 0...1.0, 1.1...2.0, 2.1...10, 10.1...17, 17.1...34)
        + row(.o3, 0...50, 51...100, 101...168, 169...208, 209...748)
        + row(.nh3, 0...200, 201...400, 401...800, 801...1200, 1201...1800)
}

private func isNear(_ subIndex: Double?, _ expected: Double) -> Bool {
    subIndex.map { abs($0 - expected) < 1e-6 } ?? false
}

struct BreakpointsTests {
    @Test(arguments: PrintedClass.all)
    private func `A class of CPCB's table begins and ends at the printed values`(row: PrintedClass) throws {
        let curve = try #require(Breakpoints.india[row.pollutant])
        #expect(isNear(curve.subIndex(row.concentrations.lowerBound), row.indices.lowerBound))
        #expect(isNear(curve.subIndex(row.concentrations.upperBound), row.indices.upperBound))
        let middle = (row.concentrations.lowerBound + row.concentrations.upperBound) / 2
        #expect(isNear(curve.subIndex(middle), (row.indices.lowerBound + row.indices.upperBound) / 2))
    }

    @Test(arguments: [(Pollutant.pm25, 251.0), (.pm10, 431), (.no2, 401), (.so2, 1601), (.co, 34.1), (.nh3, 1801)])
    func `Severe begins at 401 and continues the slope of Very poor`(pollutant: Pollutant, start: Double) throws {
        let curve = try #require(Breakpoints.india[pollutant])
        #expect(isNear(curve.subIndex(start), 401))
        let veryPoor = try #require(PrintedClass.all.last { $0.pollutant == pollutant })
        let width = veryPoor.concentrations.upperBound - veryPoor.concentrations.lowerBound
        #expect(isNear(curve.subIndex(start + width), 500))
        #expect(isNear(curve.subIndex(start + 2 * width), 599))
    }

    @Test(
        arguments: [
            ("PM10 of EPA", Breakpoints.pm10, [(604, 500), (783, 699)]),
            ("PM2.5 of EPA", Breakpoints.pm25, [(325.4, 500)]),
            (
                "PM2.5 of Europe", Breakpoints.europe[.pm25],
                [(0, 0), (2.5, 10), (5, 20), (15, 40), (50, 60), (90, 80), (140, 100), (190, 120)]
            ),
        ] as [(String, SubIndexCurve?, [(Double, Double)])])
    func `Classes join; the last continues`(name: String, curve: SubIndexCurve?, points: [(Double, Double)]) throws {
        let curve = try #require(curve)
        for (concentration, subIndex) in points {
            #expect(isNear(curve.subIndex(concentration), subIndex), "\(concentration)")
        }
    }

    @Test func `Every curve rises without gaps`() throws {
        var curves = [Breakpoints.pm25, Breakpoints.pm10, Breakpoints.co, Breakpoints.no2, Breakpoints.so2]
        curves += [Breakpoints.ozone8Hours, Breakpoints.ozoneHour]
        curves += Array(Breakpoints.india.values) + Array(Breakpoints.europe.values)
        for curve in curves {
            var last = try #require(curve.subIndex(curve.start)) - 1
            for step in 0...30_000 {
                guard let subIndex = curve.subIndex(curve.start + Double(step) / 10) else {
                    Issue.record("no index at step \(step)")
                    return
                }
                #expect(subIndex > last && subIndex - last < 6, "at step \(step)")
                last = subIndex
            }
            #expect(curve.subIndex(curve.start - 0.1) == nil)
        }
    }

    @Test func `Two independent packages give the same American sub-indices`() throws {
        let tables = [
            "pm2_5": Breakpoints.pm25, "pm10": Breakpoints.pm10, "co": Breakpoints.co, "no2": Breakpoints.no2,
            "so2": Breakpoints.so2, "ozone8Hours": Breakpoints.ozone8Hours, "ozoneHour": Breakpoints.ozoneHour,
        ]
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracle/us.csv")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
        #expect(rows.count > 600)
        for row in rows {
            let fields = row.split(separator: ",")
            let curve = try #require(tables[String(fields[2])])
            let subIndex = try #require(Double(fields[3]).flatMap(curve.subIndex))
            let rounded = fields[1] == "down" ? (subIndex + 1e-9).rounded(.down) : subIndex.rounded(.toNearestOrEven)
            #expect(rounded == Double(fields[4]), "\(row), ours \(subIndex)")
        }
    }
}
