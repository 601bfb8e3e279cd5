import TestSupport
import Testing

@testable import AirQuality

@Suite("The table of cities") struct CityTableTests {
    private func found(_ hash: UInt64, in table: CityTable) -> [Int] {
        var cities: [Int] = []
        _ = table.find(hash) { city in
            cities.append(city)
            return false
        }
        return cities
    }

    @Test("finds nothing when it is empty, and nothing that was not put in") func absent() {
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

@Suite("The names of cities") struct NameArenaTests {
    private func name(_ number: Int) -> [UInt8] {
        Array(String(number).utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 122)
    }

    private func addresses(of arena: NameArena) -> [UInt] {
        arena.blocks.map { unsafe $0.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }
    }

    /// The store's lock is held meanwhile.
    @Test("copy one block of sixteen kilobytes when one is added beside a snapshot, however many there are")
    func copying() {
        var arena = NameArena()
        for number in 100_000..<200_000 { _ = arena.append(name(number).span) }
        #expect(arena.blocks.count > 700)
        let snapshot = arena
        _ = arena.append(name(200_000).span)
        _ = arena.append(name(200_001).span)
        #expect(zip(addresses(of: snapshot), addresses(of: arena)).filter { $0 != $1 }.count <= 1)
        #expect(snapshot.blocks.allSatisfy { $0.count <= 16_384 })
    }

    @Test("are found again, of whatever length, those of a snapshot as well") func finding() {
        var random = SeededRandom(seed: 1)
        var arena = NameArena()
        var names: [(bytes: [UInt8], range: Range<Int>)] = []
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 1...128, using: &random)).map { _ in
                UInt8.random(in: 32...255, using: &random)
            }
            let offset = Int(arena.append(bytes.span))
            names.append((bytes, offset..<offset + bytes.count))
        }
        let snapshot = arena
        _ = arena.append(name(1).span)
        for (bytes, range) in names {
            #expect(Array(arena[range]) == bytes && Array(snapshot[range]) == bytes)
        }
        #expect(zip(names, names.dropFirst()).allSatisfy { $0.range.upperBound <= $1.range.lowerBound })
    }

    @Test("are rewritten when more than half of their memory is wasted") func wasting() {
        var arena = NameArena()
        var ranges: [Range<Int>] = []
        for number in 100_000..<102_000 {
            let offset = Int(arena.append(name(number).span))
            ranges.append(offset..<offset + 128)
        }
        for range in ranges.prefix(900) { arena.remove(range) }
        #expect(!arena.isWasteful)
        for range in ranges[900..<1100] { arena.remove(range) }
        #expect(arena.isWasteful)
    }
}
