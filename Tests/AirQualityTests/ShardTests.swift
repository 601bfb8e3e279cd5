import Foundation
import JSON
import Testing

@testable import AirQuality

@Suite("The shard of a name") struct ShardTests {
    /// A row of the table for implementers.
    struct Row: CustomTestStringConvertible {
        var name: String
        var hash: UInt64
        var shards: [(count: Int, index: Int)]
        var testDescription: String { name }

        /// The first table of `docker/README.md` whose second column is the hash.
        static let all: [Row] = {
            let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
            let text = (try? String(contentsOf: root.appending(path: "docker/README.md"), encoding: .utf8)) ?? ""
            let table = text.split(separator: "\n").drop { !$0.hasPrefix("| city | FNV-1a |") }
                .prefix { $0.hasPrefix("|") }
                .map { line in line.split(separator: "|").map { $0.trimmingCharacters(in: [" ", "`"]) } }
            return table.dropFirst(2).map { cells in
                Row(
                    name: cells[0], hash: UInt64(cells[1], radix: 16) ?? 0,
                    shards: zip(table.first ?? [], cells).dropFirst(2).map { (Int($0) ?? 0, Int($1) ?? -1) })
            }
        }()
    }

    @Test("is what docker/README.md says", arguments: Row.all) func documented(_ row: Row) {
        let name = Array(row.name.utf8)
        #expect(Shard.hash(name.span) == row.hash)
        for (count, index) in row.shards {
            let (shard, other) = (Shard(index: index, count: count), Shard(index: (index + 1) % count, count: count))
            #expect(Shard(of: name.span, count: count) == shard)
            let (isInShard, isInOther) = (shard.contains(name.span), other.contains(name.span))
            #expect(isInShard && !isInOther)
        }
    }

    @Test("is documented with names enough") func documentedNames() {
        #expect(Row.all.count >= 10)
        #expect(Row.all.allSatisfy { $0.shards.count >= 8 })
    }

    /// Of other implementations: https://github.com/dgryski/go-jump and https://pypi.org/project/jump-consistent-hash/.
    @Test(
        "is the jump consistent hash of others",
        arguments: [(1, 1, 0), (42, 57, 43), (0xDEAD_10CC, 1, 0), (0xDEAD_10CC, 666, 361), (256, 1024, 520)])
    func others(key: UInt64, count: Int, bucket: Int) { #expect(Shard.jump(key, count: count) == bucket) }

    @Test("is even, and moves only into a new one", arguments: [1, 2, 4, 16, 100])
    func growth(_ count: Int) {
        let total = 20_000
        var sizes = [Int](repeating: 0, count: count + 1)
        var moved = 0
        for number in 0..<total {
            let name = Array("City \(number)".utf8)
            let (before, after) = (Shard(of: name.span, count: count), Shard(of: name.span, count: count + 1))
            sizes[after.index] += 1
            if after.index != before.index {
                moved += 1
                #expect(after.index == count)
            }
        }
        #expect(sizes.last == moved)
        let mean = Double(total) / Double(count + 1)
        // Five standard deviations.
        for size in sizes { #expect(abs(Double(size) - mean) < 5 * mean.squareRoot()) }
    }

    @Test(
        "has a place for every key, up to the most shards", arguments: [0, 1, .max, 0xCBF2_9CE4_8422_2325] as [UInt64])
    func extremes(_ key: UInt64) {
        for count in [1, 2, 10_000, Shard.maximumCount] { #expect((0..<count).contains(Shard.jump(key, count: count))) }
    }
}

@Suite("Elements of other shards' cities") struct SkippedElementsTests {
    private static let shard = Shard(index: 0, count: 2)
    private static let (own, other) = {
        let names = (0..<10).map { "Nāgpur \($0)" }
        let isOwn = { (name: String) in shard.contains(Array(name.utf8).span) }
        return (names.first(where: isOwn)!, names.first { !isOwn($0) }!)
    }()

    /// `OWN` and `OTHER` stand for names.
    private static func bytes(_ text: String) -> [UInt8] {
        Array(text.replacing("OWN", with: own).replacing("OTHER", with: other).utf8)
    }

    @Test("are known by the member with the city", arguments: ["city", "Stadtname", "Straße", #"a"b"#])
    func cityField(_ field: String) {
        let shards = (0..<2).map { index -> (cities: Int, skipped: UInt64?) in
            let shard = Shard(index: index, count: 2)
            var test = TestStore(format: FeedFormat(cityField: field, shard: shard))
            let elements = (0..<100).map { #"{"\#(field.replacing("\"", with: #"\""#))": "City \#($0)", "aqi": 1}"# }
            test.receive("[" + elements.joined(separator: ", ") + "]")
            return (test.cities.count, test.store.feeds[0].skipped)
        }
        #expect(shards[0].cities + shards[1].cities == 100)
        for shard in shards { #expect(shard.skipped == UInt64(100 - shard.cities)) }
    }

    @Test("are counted, and a message that is refused counts none") func counts() {
        var test = TestStore(format: FeedFormat(shard: Self.shard))
        #expect(test.store.feeds[0].skipped == 0)
        for (message, skipped) in [
            (#"[{"city":"OTHER","aqi":"rubbish"},{"city":"OWN","aqi":2}]"#, 1),
            (#"[{"city":"OTHER"},{"city":"OWN",}]"#, 1), (#"[{"city":"OTHER"},{"c\u0069ty":"OTHER","aqi":1}]"#, 3),
            (#"{"city":"OTHER"}"#, 4), (#"["OTHER"]"#, 4),
        ] {
            test.receive(Self.bytes(message))
            #expect(test.store.feeds[0].skipped == UInt64(skipped))
        }
        #expect(test.rejections == ["not_json": 1, "not_an_object": 1])
        #expect(test.store.feeds[0].readings == 1)
        let items = FeedFormat(items: jsonPointer("/data")!, shard: Self.shard)
        test = TestStore(format: items)
        test.receive(Self.bytes(#"{"data":[{"city":"OTHER","aqi":1},{"city":"OWN","aqi":2}]}"#))
        #expect(test.store.feeds[0].skipped == 1 && test.cities.count == 1)
        #expect(TestStore().store.feeds[0].skipped == nil)
    }
}
