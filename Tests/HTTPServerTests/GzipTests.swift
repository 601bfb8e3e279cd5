internal import CZlib
import Foundation
import TestSupport
import Testing

@testable import HTTPServer
@testable import WebSocket

@Suite struct GzipTests {
    struct BlockCase: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]

        init(_ description: String, _ bytes: [UInt8]) {
            testDescription = description
            self.bytes = bytes
        }

        init(_ text: String) { self.init(text, Array(text.utf8)) }

        /// The same four bytes at the beginning and behind a gap, so that a repetition has this distance.
        static func repetition(distance: Int) -> BlockCase {
            let word = Array("\nabc".utf8)
            let gap = [UInt8](repeating: UInt8(ascii: "x"), count: distance - word.count)
            return BlockCase("repetition at \(distance)", word + gap + word + Array("end".utf8))
        }

        static let all: [BlockCase] = {
            let everyByte = (0..<256).map { UInt8($0) }
            let noise = noise(count: 200_000)
            let page = samples(2000)
            return [
                BlockCase(""), BlockCase("1"), BlockCase("\n"), BlockCase(" \n\""), BlockCase("\n\n\n\n"),
                BlockCase("# EOF\n"), BlockCase("mentaire météo \"北京\" 1\nmentaire météo \"北京\" 2\n"),
                BlockCase("every byte", everyByte), BlockCase("every byte, often", (0..<40).flatMap { _ in everyByte }),
                BlockCase("noise", noise), BlockCase("65,535 bytes of noise", Array(noise.prefix(65_535))),
                BlockCase("65,536 bytes of noise", Array(noise.prefix(65_536))),
                BlockCase("65,536 bytes of noise twice", Array(noise.prefix(65_536) + noise.prefix(65_536))),
                BlockCase("zeros", [UInt8](repeating: 0, count: 200_000)),
                BlockCase("ones", [UInt8](repeating: 0xFF, count: 200_000)),
                BlockCase("zeros and noise", [UInt8](repeating: 0, count: 100_000) + noise),
                BlockCase("spaces", [UInt8](repeating: UInt8(ascii: " "), count: 200_000)),
                BlockCase("line feeds and noise", noise.map { $0 < 100 ? UInt8(ascii: "\n") : $0 }),
                BlockCase("samples", page), BlockCase("2 MB of samples", joined(Array(repeating: page, count: 20))),
                .repetition(distance: 4), .repetition(distance: 5), .repetition(distance: 32_767),
                .repetition(distance: 32_768), .repetition(distance: 32_769), .repetition(distance: 65_537),
            ]
        }()
    }

    @Test(arguments: BlockCase.all) func zlibReadsABlock(_ scenario: BlockCase) throws {
        let block = block(scenario.bytes)
        #expect(try inflated(block) == scenario.bytes)
        #expect(block.length == scenario.bytes.count)
        let checksum = unsafe scenario.bytes.withUnsafeBufferPointer { unsafe crc32_z(0, $0.baseAddress, $0.count) }
        #expect(block.checksum == UInt32(checksum))
        // What does not become smaller is stored, in blocks of 65,535 bytes with five bytes each.
        #expect(block.compressed.count <= scenario.bytes.count + 5 * (scenario.bytes.count / 65_535 + 1))
    }

    @Test func zlibReadsAnyBlock() throws {
        var random = SeededRandom(seed: 11)
        var compressor = GzipCompressor()
        let words = ["\n", " ", "\"", "airquality_index{city=\"", "\"} ", "0", "17", "é", "Pune", "\u{0}", "\\\""]
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...400, using: &random)).flatMap { _ in
                Array(words[Int.random(in: 0..<words.count, using: &random)].utf8)
            }
            #expect(try inflated(compressor.block(bytes.span)) == bytes)
        }
    }

    /// A block must not depend on what was compressed before it.
    @Test func blocksStandAlone() {
        let one = samples(100)
        var compressor = GzipCompressor()
        let first = compressor.block(one.span)
        _ = compressor.block(samples(1000).span)
        #expect(compressor.block(one.span) == first)
    }

    @Test func aCompressorMakesTheSameBytesOfABlockEachTime() {
        let blocks = BlockCase.all.map(\.bytes) + [noise(count: 70_000)]
        var compressor = GzipCompressor()
        let first = blocks.map { compressor.block($0.span) }
        for _ in 0..<8 { #expect(blocks.map { compressor.block($0.span) } == first) }
    }

    /// Where a compressor is, its matches may depend on, and nothing else.
    @Test func anyCompressorMakesTheBlock() throws {
        let blocks = BlockCase.all.map(\.bytes) + [noise(count: 70_000)]
        for filler in 0..<16 {
            // Freed, it is what the compressors are given.
            _ = (0..<4).map { [UInt8](repeating: UInt8(filler * 4 + $0), count: 400_000) }
            var compressor = GzipCompressor()
            for bytes in blocks where bytes.count < 100_000 {
                let block = compressor.block(bytes.span)
                #expect(try inflated(block) == bytes)
            }
        }
    }

    @Test(arguments: [["gzip", "-dc"], python, pythonFirstMember]) func othersReadTheMember(_ command: [String]) throws
    {
        let noise = noise(count: 500_000)
        let contents: [[[UInt8]]] = [
            [], [[]], [[65]], [[], [65], [], []],
            [Array("airquality_index{city=\"Pune\"} 1\n".utf8), Array("airquality_index{city=\"Delhi\"} 2\n".utf8)],
            (0..<300).map { index in Array("airquality_index{city=\"City \(index)\"} \(index * 7 % 500)\n".utf8) },
            [Array(noise[..<1]), Array(noise[1..<70_000]), Array(noise[70_000...])],
            [[UInt8](repeating: 0, count: 2_000_000)], BlockCase.all.map(\.bytes),
        ]
        for blocks in contents {
            let plain = joined(blocks)
            let compressed = blocks.map(block)
            let whole = Gzip(compressed)
            #expect(try decompress(whole.member, with: command) == plain)
            #expect(try decompress(Gzip.member(of: plain.span), with: command) == plain)
            // The last block may come apart from the others, and another one in its place.
            guard let last = compressed.last else { continue }
            let beginning = Gzip(compressed.dropLast())
            #expect(joined(beginning.member(endingWith: last)) == whole.member)
            let other = joined(beginning.member(endingWith: block([66])))
            #expect(try decompress(other, with: command) == plain.dropLast(last.length) + [66])
        }
    }

    @Test(
        arguments: [
            (UInt64(0), [0, 0, 0, 0]), (1, [1, 0, 0, 0]), (0xFFFF_FFFF, [255, 255, 255, 255]),
            (0x1_0000_0000, [0, 0, 0, 0]), (0x1_0000_0002, [2, 0, 0, 0]), (0x12_3456_789A, [0x9A, 0x78, 0x56, 0x34]),
        ] as [(UInt64, [UInt8])])
    func theLengthIsModulo32Bits(_ length: UInt64, _ field: [UInt8]) {
        #expect(Gzip.trailer(checksum: 0, length: length).suffix(4) == field[...])
    }

    /// More than 4 GiB of plain bytes: gzip checks the sum and the length modulo 2³².
    @Test func moreThan4GiB() throws {
        let zeros = block([UInt8](repeating: 0, count: 1 << 26))
        let member = Gzip(Array(repeating: zeros, count: 65)).member
        #expect(member.suffix(4) == [0, 0, 0, 4])
        #expect(try decompress(member, with: ["gzip", "-t"]).isEmpty)
    }

    /// zlib's lowest level is what others compress with.
    @Test(arguments: ["busy.text004.prom", "empty.prom", "history.json"]) func goldenFilesAreAsSmallAsByZlib(
        _ name: String
    ) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let folder = name == "history.json" ? "AirQualityTests" : "ExpositionTests"
        let text = Array(try Data(contentsOf: tests.appending(path: "\(folder)/Golden/\(name)")))
        #expect(block(text).compressed.count * 100 <= zlibCount(text) * 105)
    }

    @Test(arguments: [12, 256, 2000]) func samplesAreAsSmallAsByZlib(_ count: Int) {
        let text = samples(count)
        #expect(block(text).compressed.count * 100 <= zlibCount(text) * 105)
    }
}

private func block(_ bytes: [UInt8]) -> GzipBlock {
    var compressor = GzipCompressor()
    return compressor.block(bytes.span)
}

/// Faster than the standard library's, in a build for debugging.
private func joined(_ parts: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in parts { bytes += part }
    return bytes
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

// MARK: - Other implementations

/// What zlib makes of a block.
private func inflated(_ block: GzipBlock) throws -> [UInt8] {
    var inflater = Inflater(.withoutContext)
    var bytes: [UInt8] = []
    let compressed = block.compressed
    try inflater.inflate(compressed.span, isLast: false) { piece in
        bytes.append(contentsOf: piece)
        return true
    }
    return bytes
}

/// How many bytes zlib's level 1 makes of these, with the flush that ends a block.
private func zlibCount(_ bytes: [UInt8]) -> Int {
    var stream = unsafe z_stream()
    let size = Int32(unsafe MemoryLayout<z_stream>.size)
    // Negative window bits: neither zlib's nor gzip's header.
    let begun = unsafe deflateInit2_(&stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    defer { unsafe deflateEnd(&stream) }
    var bytes = bytes
    var output = [UInt8](repeating: 0, count: bytes.count * 2 + 1000)
    let flushed = unsafe bytes.withUnsafeMutableBufferPointer { input in
        unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe stream.next_in = input.baseAddress
            unsafe stream.avail_in = uInt(input.count)
            unsafe stream.next_out = output.baseAddress
            unsafe stream.avail_out = uInt(output.count)
            return unsafe deflate(&stream, Z_SYNC_FLUSH)
        }
    }
    #expect(begun == Z_OK && flushed == Z_OK)
    return Int(unsafe stream.total_out)
}

private let python = [
    "python3", "-c", "import gzip,sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))",
]

/// As browsers do: the first member only, and nothing may follow it.
private let pythonFirstMember = [
    "python3", "-c",
    """
    import sys, zlib
    reader = zlib.decompressobj(31)
    plain = reader.decompress(sys.stdin.buffer.read())
    assert reader.eof and not reader.unused_data
    sys.stdout.buffer.write(plain)
    """,
]

/// What another program makes of these bytes.
private func decompress(_ member: [UInt8], with command: [String]) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let input = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).gz")
    try Data(member).write(to: input)
    defer { try? FileManager.default.removeItem(at: input) }
    process.standardInput = try FileHandle(forReadingFrom: input)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let plain = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return Array(plain)
}
