import Testing

@testable import AirQuality

struct ScaleTests {
    @Test(
        arguments: [
            (0, 1), (50, 1), (50.23, 1), (50.99, 1), (51, 2), (100, 2), (100.5, 2), (101, 3), (200.99, 3), (201, 4),
            (300.999, 4), (301, 5), (400, 5), (401, 6), (500, 6), (500.5, 6), (9999, 6),
        ] as [(Double, UInt8)])
    func `A scale gives the category from its boundary up`(_ index: Double, _ category: UInt8) {
        #expect(Scale.india.category(of: index) == category)
    }

    @Test(
        arguments: [
            ("us", 50.9, 1), ("us", 51, 2), ("us", 101, 3), ("us", 151, 4), ("us", 200, 4), ("us", 201, 5),
            ("us", 301, 6),
            ("eu", 19.9, 1), ("eu", 20, 2), ("eu", 40, 3), ("eu", 60, 4), ("eu", 80, 5), ("eu", 99.9, 5),
            ("eu", 100, 6),
        ] as [(String, Double, UInt8)])
    func `A scale has its own boundaries`(_ name: String, _ index: Double, _ category: UInt8) throws {
        let scale = try #require(Scale.all.first { $0.name == name })
        #expect(scale.category(of: index) == category)
    }

    @Test(arguments: Scale.all)
    func `A scale numbers its categories in rising order, each with a face and a colour`(_ scale: Scale) {
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
