import TestSupport
import Testing

@testable import Bytes

@Suite("Runs of bytes")
struct RunsTests {
    /// Also as parts of others, at different places.
    private static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let parts = [(0, 0), (3, 0), (3, 9), (1, 10)].map { before, after in
            let first = Array(repeating: 7, count: before) + left + Array(repeating: 8, count: after)
            let second = Array(repeating: 9, count: before + 2) + right + Array(repeating: 5, count: 9 - after / 2)
            return bytesEqual(
                first.span, in: before..<before + left.count, second.span, in: before + 2..<before + 2 + right.count)
        }
        let isEqual = bytesEqual(left.span, right.span)
        #expect(parts.allSatisfy { $0 == isEqual })
        return isEqual
    }

    private static func precede(_ left: [UInt8], _ right: [UInt8]) -> Bool { bytesPrecede(left.span, right.span) }

    /// Also as a part of others.
    private static func hash(_ bytes: [UInt8], seed: UInt64 = 1) -> UInt64 {
        let hash = ByteHash.hash(bytes.span, seed: seed)
        for (before, after) in [(3, 0), (0, 3), (2, 9), (5, 5)] {
            let others = Array(repeating: 7, count: before) + bytes + Array(repeating: 0xFF, count: after)
            #expect(ByteHash.hash(others.span, in: before..<before + bytes.count, seed: seed) == hash)
        }
        return hash
    }

    /// Runs that differ in one byte, in their length or not at all.
    @Test("are compared and hashed whatever their length and wherever they begin", arguments: 0...40)
    func comparison(_ count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(Self.equal(bytes, bytes))
        #expect(!Self.precede(bytes, bytes))
        #expect(Self.hash(bytes) != Self.hash(bytes, seed: 2))
        let longer = bytes + [0]
        #expect(!Self.equal(bytes, longer))
        #expect(Self.precede(bytes, longer))
        #expect(!Self.precede(longer, bytes))
        #expect(Self.hash(bytes) != Self.hash(longer))
        for place in 0..<count {
            var other = bytes
            other[place] ^= 0x80
            #expect(!Self.equal(bytes, other))
            #expect(Self.precede(bytes, other) == (bytes[place] < other[place]))
            #expect(Self.hash(bytes) != Self.hash(other))
        }
    }

    @Test("are printable ASCII or not, wherever what is not stands", arguments: 0...40)
    func printable(_ count: Int) {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<count {
                var bytes = (0..<count).map { UInt8(0x20 + ($0 * 7 + count) % 0x5F) }
                bytes[place] = byte
                let isPrintable = isPrintableASCII(([0x00, 0xFF] + bytes + [0x80, 0x1F]).span, in: 2..<2 + count)
                #expect(isPrintable == (0x20...0x7E).contains(byte), "\(bytes)")
            }
        }
    }
}
