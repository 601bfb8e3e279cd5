import Testing

@testable import AirQuality

@Suite("A restored city") struct RestoredCityTests {
    private func judged(stored category: UInt8, index: Double, isSameScale: Bool = true) -> City {
        var changes = CategoryChanges()
        changes.better = 7
        changes.worse = 8
        var city = City(
            id: 1, name: Array("Pune".utf8), index: index, updatedAt: 5, receivedAt: 6, category: category,
            changes: changes, points: [205, index].map { HistoryPoint(time: 0, index: $0, category: 1) })
        city.judge(by: CategoryBounds(.india), isSameScale: isSameScale)
        return city
    }

    @Test(
        "`judge` gives a city the category of its index, and counts the change that the file has not",
        arguments: [(4, 205, 4, 7, 8, 0), (3, 205, 4, 7, 9, -1), (4, 50.99, 1, 8, 8, 1)] as [
            (UInt8, Double, UInt8, UInt64, UInt64, Int8)
        ])
    func changes(stored: UInt8, index: Double, category: UInt8, better: UInt64, worse: UInt64, direction: Int8) {
        let city = judged(stored: stored, index: index)
        #expect(city.category == category && city.points.map(\.category) == [4, category])
        #expect(city.changes.better == better && city.changes.worse == worse && city.changes.direction == direction)
        #expect(city.changes.changedAt == (direction == 0 ? nil : 5))
    }

    @Test("`judge` forgets changes between categories of another scale") func otherScale() {
        let city = judged(stored: 2, index: 205, isSameScale: false)
        #expect(city.category == 4 && city.changes == CategoryChanges())
    }
}
