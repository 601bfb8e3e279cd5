import AirQuality
import Storage
import Testing

@testable import AirQualityExporter

@Suite("A restored city")
struct SavedCityTests {
    private static let start: Int64 = 1_795_236_585_000

    /// Readings of 195, 205, 206, 215 and 216 with a hysteresis of 10: all but the last two hold category 3.
    private func restored(_ indices: [Double], changedAt second: Int64?, isSameScale: Bool = true) -> SavedCity {
        let points = indices.map { StoredPoint(time: Self.start + Int64($0) * 1000, index: $0) }
        let stored = StoredCity(
            name: Array("Pune".utf8), index: indices[indices.count - 1], updatedAt: Self.start, receivedAt: Self.start,
            category: indices[indices.count - 1] >= 210 ? 4 : 3, changedAt: second.map { Self.start + $0 * 1000 },
            points: points)
        return SavedCity(stored, scale: .india, hysteresis: 10, isSameScale: isSameScale)
    }

    @Test(
        "has its points with the categories that it held",
        arguments: [
            ([195, 205, 206], nil, [3, 3, 3]), ([205, 206], nil, [3, 3]), ([205, 206], 100, [3, 3]),
            ([205, 206], 205, [3, 3]), ([195, 206, 215, 216], 215, [3, 3, 4, 4]), ([215, 216], 215, [4, 4]),
        ] as [([Double], Int64?, [UInt8])])
    func categories(_ indices: [Double], changedAt second: Int64?, _ categories: [UInt8]) {
        #expect(restored(indices, changedAt: second).points.map(\.category) == categories)
    }

    @Test("has no category that its points could not have held")
    func otherCategory() {
        #expect(restored([195, 205, 350, 206], changedAt: nil).points.map(\.category) == [3, 3, 5, 3])
    }

    @Test("has categories of its points alone when the scale is another")
    func otherScale() {
        #expect(restored([205, 206], changedAt: nil, isSameScale: false).points.map(\.category) == [4, 4])
    }
}
