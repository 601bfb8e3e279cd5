internal import CISAL
internal import CZlib
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct GzipTests {
    private static let inputs: [String: [UInt8]] = {
        let everyByte = (0..<256).map { UInt8($0) }
        let noise = noise(count: 200_000)
        var inputs = [
            "every byte": everyByte, "every byte, often": (0..<40).flatMap { _ in everyByte }, "noise": noise,
            "65,535 bytes of noise": Array(noise.prefix(65_535)), "65,536 bytes of noise": Array(noise.prefix(65_536)),
            "65,536 bytes of noise twice": Array(noise.prefix(65_536) + noise.prefix(65_536)),
            "zeros": [UInt8](repeating: 0, count: 200_000),
            "zeros and noise": [UInt8](repeating: 0, count: 100_000) + noise, "samples": samples(20_000),
        ]
        for text in ["", "1", "\n", " \n\"", "# EOF\n", "mentaire météo \"北京\" 1\nmentaire météo \"北京\" 2\n"] {
            inputs[text] = Array(text.utf8)
        }
        // Four bytes at the start and after a gap, so that they repeat at this distance.
        for distance in [4, 32_767, 32_768, 32_769, 65_537] {
            let gap = String(repeating: "x", count: distance - 4)
            inputs["repetition at \(distance)"] = Array("\nabc\(gap)\nabcend".utf8)
        }
        return inputs
    }()

    @Test(arguments: inputs.keys.sorted()) func `Zlib decompresses every input with any end`(name: String) throws {
        let bytes = try #require(Self.inputs[name])
        let member = Gzip.member(of: bytes)
        #expect(try decompressed(member) == bytes)
        // Data that does not shrink is stored, in blocks of 65,535 bytes with five bytes each.
        #expect(member.count <= bytes.count + 5 * (bytes.count / 65_535 + 1) + 20)
        let gzip = Gzip(bytes, blockBytes: 30_000)
        for end in [[], Array("end\n".utf8), Array(bytes.prefix(70_000))] {
            #expect(try decompressed(Array(gzip.member(endingWith: end).joined())) == bytes + end)
        }
    }

    @Test func `Earlier compressions do not affect later ones`() throws {
        var random = SeededRandom(seed: 11)
        let words = ["\n", " ", "\"", "airquality_index{city=\"", "\"} ", "0", "17", "é", "Pune", "\u{0}", "\\\""]
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...400, using: &random)).flatMap { _ in
                Array(words[Int.random(in: 0..<words.count, using: &random)].utf8)
            }
            #expect(try decompressed(Gzip.member(of: bytes)) == bytes)
        }
    }

    @Test func `Compression leaves no AVX state that slows the thread down`() {
        _ = Gzip.member(of: samples(100))
        #expect(!cisal_uses_avx())
    }

    /// Others compress with zlib's lowest level.
    @Test(arguments: [12, 256, 2000]) func `Samples compress about as well as at zlib's lowest level`(_ count: Int) {
        let text = samples(count)
        var size = compressBound(uLong(text.count))
        var output = [UInt8](repeating: 0, count: Int(size))
        let result = unsafe compress2(&output, &size, text, uLong(text.count), 1)
        #expect(result == Z_OK)
        #expect(Gzip.member(of: text).count * 100 <= Int(size) * 105 + 1500)
    }
}

private func samples(_ count: Int) -> [UInt8] {
    var random = SeededRandom(seed: 17)
    return (0..<count).flatMap { index in
        let value = Double(Int.random(in: 0..<5_000_000, using: &random)) / 10_000
        return Array("airquality_index{city=\"City \(index * 7)\"} \(value)\n".utf8)
    }
}

private func noise(count: Int) -> [UInt8] {
    var random = SeededRandom(seed: 3)
    return (0..<count / 8).flatMap { _ in
        let word = random.next()
        return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
}

/// Decompresses a gzip member with zlib, which verifies the checksum and the length; nothing may follow.
private func decompressed(_ member: [UInt8]) throws -> [UInt8] {
    var stream = unsafe z_stream()
    let size = Int32(unsafe MemoryLayout<z_stream>.size)
    let begun = unsafe inflateInit2_(&stream, MAX_WBITS + 16, ZLIB_VERSION, size)
    #expect(begun == Z_OK)
    defer { unsafe inflateEnd(&stream) }
    var member = member
    var output = [UInt8](repeating: 0, count: 4 << 20)
    let result = unsafe member.withUnsafeMutableBufferPointer { input in
        unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe stream.next_in = input.baseAddress
            unsafe stream.avail_in = uInt(input.count)
            unsafe stream.next_out = output.baseAddress
            unsafe stream.avail_out = uInt(output.count)
            return unsafe inflate(&stream, Z_FINISH)
        }
    }
    let left = unsafe stream.avail_in
    #expect(result == Z_STREAM_END && left == 0)
    return Array(output[..<Int(unsafe stream.total_out)])
}
