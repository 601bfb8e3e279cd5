import TestSupport
import Testing

@testable import Bytes

struct RunsTests {
    private static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool { bytesEqual(left.span, right.span) }

    /// Runs that differ in one byte, in their length or not at all.
    @Test(arguments: 0...40) func `Runs of bytes are equal only if all their bytes are`(_ count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(Self.equal(bytes, bytes))
        let longer = bytes + [0]
        #expect(!Self.equal(bytes, longer))
        for place in 0..<count {
            var other = bytes
            other[place] ^= 0x80
            #expect(!Self.equal(bytes, other))
        }
    }
}
