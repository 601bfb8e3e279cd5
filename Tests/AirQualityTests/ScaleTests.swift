import Testing

@testable import AirQuality

struct ScaleTests {
    @Test(
        arguments: [
            ("india", 0, 1), ("india", 50, 1), ("india", 50.23, 1), ("india", 50.99, 1), ("india", 51, 2),
            ("india", 100, 2), ("india", 100.5, 2), ("india", 101, 3), ("india", 200.99, 3), ("india", 201, 4),
            ("india", 300.999, 4), ("india", 301, 5), ("india", 400, 5), ("india", 401, 6), ("india", 500.5, 6),
            ("india", 9999, 6), ("us", 50.9, 1), ("us", 51, 2), ("us", 101, 3), ("us", 151, 4), ("us", 200, 4),
            ("us", 201, 5), ("us", 301, 6), ("eu", 19.9, 1), ("eu", 20, 2), ("eu", 40, 3), ("eu", 60, 4), ("eu", 80, 5),
            ("eu", 99.9, 5), ("eu", 100, 6),
        ] as [(String, Double, UInt8)])
    func `A category begins exactly at its boundary`(_ name: String, _ aqi: Double, _ category: UInt8) throws {
        let scale = try #require(Scale.all.first { $0.name == name })
        #expect(scale.category(of: aqi) == category)
    }

    @Test(arguments: Scale.all)
    func `The categories of a scale are in rising order, each with a face and a colour`(_ scale: Scale) {
        #expect(scale.categories.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(scale.categories.first?.from == 0)
        #expect(zip(scale.categories, scale.categories.dropFirst()).allSatisfy { $0.from < $1.from })
        for category in scale.categories {
            #expect(category.color.wholeMatch(of: /#[0-9A-F]{6}/) != nil)
            #expect(category.face.count == 1)
        }
        #expect(Set(scale.categories.map(\.color)).count == 6)
    }
}
