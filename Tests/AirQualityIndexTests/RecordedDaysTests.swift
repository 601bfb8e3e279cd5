import AirQuality
import Foundation
import Testing

@testable import AirQualityIndex

/// Six years of daily means with the category that CPCB published; the file is beside the project, not in it.
private let recordedDays: URL? = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    let places = ["../shared", "../../shared"].map { root.appending(path: $0 + "/data/cpcb-city-day.csv").standardized }
    return places.first { FileManager.default.fileExists(atPath: $0.path) }
}()

struct RecordedDaysTests {
    private static let columns: [Pollutant: Int] = [.pm25: 2, .pm10: 3, .no2: 5, .nh3: 7, .co: 8, .so2: 9, .o3: 10]

    private static func category(_ aqi: Double) -> String {
        switch aqi {
        case ..<51: "Good"
        case ..<101: "Satisfactory"
        case ..<201: "Moderate"
        case ..<301: "Poor"
        case ..<401: "Very Poor"
        default: "Severe"
        }
    }

    /// A plausibility check, not a proof: the published index is the day's greatest of 24 running ones, with eight
    /// hours of ozone and carbon monoxide, and a day's mean has neither.
    @Test(.enabled(if: recordedDays != nil, "../shared/data/cpcb-city-day.csv is not there"))
    func `Most of CPCB's recorded days fall into the recorded category`() throws {
        let text = try String(contentsOf: try #require(recordedDays), encoding: .utf8)
        var (rows, same, neighbours) = (0, 0, 0)
        let order = ["Good", "Satisfactory", "Moderate", "Poor", "Very Poor", "Severe"]
        for line in text.split(whereSeparator: \.isNewline).dropFirst() {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count == 16, !fields[15].isEmpty else { continue }
            var values: [Pollutant: Hours] = [:]
            for (pollutant, column) in Self.columns {
                guard let mean = Double(fields[column]) else { continue }
                let concentration = pollutant == .co ? mean * 1000 : mean
                values[pollutant] = Hours(Dictionary(uniqueKeysWithValues: (0..<24).map { ($0, concentration) }))
            }
            guard let aqi = try? IndexScale.india.indices(of: values, at: 23).aqi else { continue }
            rows += 1
            let (ours, theirs) = (order.firstIndex(of: Self.category(aqi)), order.firstIndex(of: String(fields[15])))
            if ours == theirs { same += 1 }
            if let ours, let theirs, abs(ours - theirs) <= 1 { neighbours += 1 }
        }
        let share = Double(same) / Double(rows)
        let percent = (share * 1000).rounded() / 10
        print("recorded category: \(same) of \(rows) days (\(percent) %), one off at most: \(neighbours)")
        #expect(rows > 24_000)
        #expect(share > 0.69)
        #expect(Double(neighbours) / Double(rows) > 0.97)
    }
}
