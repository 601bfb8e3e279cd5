import Bytes
import JSON
import TestSupport
import Testing

@testable import AirQuality

struct ShardTests {
    private static let counts = [2, 3, 4, 5, 16, 17, 105, 10_000]

    /// A name, its FNV-1a hash, and its shard for each number of shards in `counts`.
    ///
    /// The rows never change, because other programs route by the same rule: `support/shards.py` has it in Python.
    @Test(
        arguments: [
            ("a", 0xAF63_DC4C_8601_EC8C, [1, 2, 2, 2, 12, 12, 31, 4279]),
            ("Delhi", 0x1168_2DDC_5DD8_283D, [0, 2, 2, 2, 12, 12, 82, 4658]),
            ("Mumbai", 0xADB9_82DA_C199_D902, [1, 1, 1, 1, 12, 12, 12, 2419]),
            ("Kolkata", 0xEEF8_C33B_9388_ECC6, [0, 0, 0, 0, 9, 9, 93, 4102]),
            ("New Delhi", 0x12B0_CE71_4FBD_8F37, [0, 2, 2, 4, 7, 7, 55, 6272]),
            ("Navi Mumbai", 0x658F_4451_A130_FB94, [1, 1, 1, 1, 9, 9, 58, 2035]),
            ("Sri Ganganagar", 0x4759_D178_EEAE_E24A, [0, 2, 2, 2, 13, 13, 55, 3754]),
            ("São Paulo", 0x78CF_1749_4FDF_D5EE, [1, 1, 1, 4, 4, 4, 4, 8476]),
            ("Zürich", 0x0EF8_4159_6F67_FDC0, [1, 1, 1, 1, 13, 13, 13, 1028]),
            ("दिल्ली", 0x7FF3_395E_277D_86E9, [1, 1, 3, 3, 5, 5, 5, 1839]),
            ("北京", 0x9AA1_E75C_F025_7D61, [0, 0, 0, 0, 0, 0, 65, 5730]),
            ("City 000001", 0x46FA_DC09_5316_1889, [0, 0, 0, 4, 8, 8, 61, 1729]),
        ] as [(String, UInt64, [Int])])
    func `The shard of a name never changes`(name: String, hash: UInt64, shards: [Int]) {
        let name = Array(name.utf8)
        #expect(fnv1a(name.span) == hash)
        for (count, index) in zip(Self.counts, shards) {
            let shard = Shard(index: index, count: count)
            let other = Shard(index: (index + 1) % count, count: count)
            #expect(Shard(of: name.span, count: count) == shard)
            let isInShard = shard.contains(name.span)
            let isInOther = other.contains(name.span)
            #expect(isInShard && !isInOther)
        }
    }

    /// Results of other implementations:
    /// https://github.com/dgryski/go-jump and https://pypi.org/project/jump-consistent-hash/.
    @Test(arguments: [(1, 1, 0), (42, 57, 43), (0xDEAD_10CC, 1, 0), (0xDEAD_10CC, 666, 361), (256, 1024, 520)])
    func `The jump consistent hash matches other implementations`(key: UInt64, count: Int, bucket: Int) {
        #expect(Shard.jump(key, count: count) == bucket)
    }

    @Test(arguments: [1, 2, 4, 16, 100])
    func `Names spread evenly over shards and move only into a new shard`(_ count: Int) {
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

    @Test(arguments: [0, 1, .max, 0xCBF2_9CE4_8422_2325] as [UInt64])
    func `Every key has a shard, up to the maximum number of shards`(_ key: UInt64) {
        for count in [1, 2, 10_000, Shard.maximumCount] { #expect((0..<count).contains(Shard.jump(key, count: count))) }
    }
}

struct SkippedElementsTests {
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

    @Test(arguments: ["city", "Stadtname", "Straße", #"a"b"#])
    func `Elements of other shards are recognised by the configured city field`(_ field: String) {
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

    @Test func `Elements of other shards are counted, except in rejected messages`() {
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
