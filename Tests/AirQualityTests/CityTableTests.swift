import TestSupport
import Testing

@testable import AirQuality

@Suite("The table of cities")
struct CityTableTests {
    private func found(_ hash: UInt64, in table: CityTable) -> [Int] {
        var search = table.search(for: hash)
        var cities: [Int] = []
        while let city = table.next(&search) { cities.append(city) }
        return cities
    }

    @Test("finds nothing when it is empty, and nothing that was not put in")
    func absent() {
        var table = CityTable()
        #expect(found(0, in: table).isEmpty)
        #expect(found(.max, in: table).isEmpty)
        table.insert(3, hash: 7 << 32)
        #expect(found(8 << 32, in: table).isEmpty)
        table.remove(4, hash: 8 << 32)
        table.remove(4, hash: 7 << 32)
        #expect(found(7 << 32, in: table) == [3])
        #expect(table.count == 1)
    }

    /// The caller compares their names.
    @Test("finds all cities of a hash, 0 and the largest among them", arguments: [0, 1 << 32, .max] as [UInt64])
    func sameHash(_ hash: UInt64) {
        var table = CityTable()
        for city in 0..<50 { table.insert(city, hash: hash) }
        #expect(found(hash, in: table).sorted() == Array(0..<50))
        for city in 0..<49 { table.remove(city, hash: hash) }
        #expect(found(hash, in: table) == [49])
    }

    /// Hashes with few values, so that cities stand where others belong, at the end and at the beginning of the slots.
    @Test("finds what a list says, whatever comes and goes", arguments: 1...8 as ClosedRange<UInt64>)
    func anyOrder(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let tags = (0..<40).map { _ in UInt64.random(in: 0...UInt64.max, using: &random) >> (seed % 2 == 0 ? 32 : 58) }
        var table = CityTable()
        var list: [(city: Int, tag: UInt64)] = []
        for city in 0..<600 {
            let tag = tags.randomElement(using: &random) ?? 0
            // The lower half of a hash is not kept.
            table.insert(city, hash: tag << 32 | UInt64.random(in: 0...0xFFFF_FFFF, using: &random))
            list.append((city, tag))
            while list.count > 60 || (!list.isEmpty && Int.random(in: 0..<3, using: &random) == 0) {
                let gone = list.remove(at: .random(in: 0..<list.count, using: &random))
                table.remove(gone.city, hash: gone.tag << 32)
            }
            #expect(table.count == list.count)
            for tag in tags {
                #expect(found(tag << 32, in: table).sorted() == list.filter { $0.tag == tag }.map(\.city).sorted())
            }
        }
    }
}
