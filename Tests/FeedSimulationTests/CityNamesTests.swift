import Testing

@testable import FeedSimulation

struct CityNamesTests {
    @Test func `The first twelve names are the real ones, in the order of the feed`() {
        #expect(
            (0..<12).map(CityNames.name) == [
                "Mumbai", "Bengaluru", "Delhi", "Kolkata", "Bhubaneswar", "Chennai", "Pune", "Hyderabad", "Indore",
                "Jaipur", "Chandigarh", "Lucknow",
            ])
    }

    @Test func `A million names are all different and valid`() {
        var names: Set<[UInt8]> = []
        names.reserveCapacity(FeedSimulator.maximumCityCount)
        var bad: [String] = []
        for index in 0..<FeedSimulator.maximumCityCount {
            let name = CityNames.name(index)
            names.insert(Array(name.utf8))
            let isGood =
                (1...128).contains(name.utf8.count) && name.first != " " && name.last != " "
                && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            if !isGood { bad.append(name) }
        }
        #expect(names.count == FeedSimulator.maximumCityCount)
        #expect(bad.isEmpty)
    }

    @Test(arguments: [" ", "'", "-", ".", "नगर"])
    func `The first hundred invented names have every kind of spelling`(part: String) {
        #expect((12..<112).contains { CityNames.name($0).contains(part) })
    }
}
