import AirQuality
import TestSupport
import Testing

@testable import Page

struct SparklineTests {
    private func heights(_ indices: [Double]) -> [Int] {
        let markup = String(decoding: sparkline(points(indices), scale: .india).bytes, as: UTF8.self)
        guard let line = markup.firstMatch(of: /polyline points="([^"]*)"/) else { return [] }
        return line.1.split(separator: " ").compactMap { $0.split(separator: ",").last.flatMap { Int($0) } }
    }

    @Test func `A sparkline starts at 0 and spans at least a category, so that noise stays small`() {
        #expect(heights([0, 51, 90]) == [300, 149, 33])
        #expect(heights([49, 50, 49]) == [154, 151, 154])
        #expect(heights([500, 499, 500]) == [50, 51, 50])
        #expect(heights([500, 499]) == [])
    }
}
