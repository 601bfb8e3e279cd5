import TestSupport
import Testing

@testable import HTTPServer
@testable import WebSocket

private func block(_ bytes: [UInt8]) -> GzipBlock {
    var compressor = GzipTextCompressor()
    return compressor.block(bytes.span)
}

/// What zlib makes of a block: `Inflater` adds the four bytes that end an empty stored block itself.
private func inflated(_ block: GzipBlock) throws -> [UInt8] {
    var inflater = Inflater()
    var bytes: [UInt8] = []
    let compressed = Array(block.compressed)
    let isWhole = try inflater.inflate(compressed.span, isLast: false, into: &bytes, limit: 1 << 30)
    #expect(isWhole)
    return bytes
}

private func samples(_ count: Int, random: inout SeededRandom) -> [UInt8] {
    (0..<count).flatMap { index in
        let value = Double(Int.random(in: 0..<5_000_000, using: &random)) / 10_000
        return Array("airquality_index{city=\"City \(index * 7)\"} \(value)\n".utf8)
    }
}

@Suite struct GzipTextCompressorTests {
    struct TextCase: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]

        init(_ description: String, _ bytes: [UInt8]) {
            testDescription = description
            self.bytes = bytes
        }

        init(_ text: String) { self.init(text, Array(text.utf8)) }

        /// The same four bytes at the beginning and behind a gap, so that a repetition has this distance.
        static func repetition(distance: Int) -> TextCase {
            let word = Array("\nabc".utf8)
            let gap = [UInt8](repeating: UInt8(ascii: "x"), count: distance - word.count)
            return TextCase("repetition at \(distance)", word + gap + word + Array("end".utf8))
        }

        static let all: [TextCase] = {
            var random = SeededRandom(seed: 3)
            let everyByte = (0..<256).map { UInt8($0) }
            let noise = (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            return [
                TextCase(""), TextCase("1"), TextCase("\n"), TextCase(" \n\""), TextCase("\n\n\n\n"),
                TextCase("\n\n\n\n\n\n\n\n\n"), TextCase("a\"b\"a\"b\"a\"b\"a\"b\""),
                TextCase("# EOF\n"), TextCase("mentaire météo \"北京\" 1\nmentaire météo \"北京\" 2\n"),
                TextCase("every byte", everyByte), TextCase("every byte, often", (0..<40).flatMap { _ in everyByte }),
                TextCase("noise", noise), TextCase("65,535 bytes of noise", Array(noise.prefix(65535))),
                TextCase("65,536 bytes of noise", Array(noise.prefix(65536))),
                TextCase("noise without letters", noise.map { $0 | 0x80 }),
                TextCase("zeros", [UInt8](repeating: 0, count: 200_000)),
                TextCase("spaces", [UInt8](repeating: UInt8(ascii: " "), count: 200_000)),
                TextCase("line feeds and noise", noise.map { $0 < 100 ? UInt8(ascii: "\n") : $0 }),
                TextCase("samples", samples(5000, random: &random)),
                .repetition(distance: 4), .repetition(distance: 5), .repetition(distance: 32767),
                .repetition(distance: 32768), .repetition(distance: 32769), .repetition(distance: 65537),
            ]
        }()
    }

    @Test(arguments: TextCase.all) func zlibReadsABlock(_ scenario: TextCase) throws {
        let block = block(scenario.bytes)
        #expect(try inflated(block) == scenario.bytes)
        #expect(block.length == scenario.bytes.count)
        #expect(block.checksum == GzipCompressor().block(scenario.bytes.span).checksum)
        // Ends like a flush of zlib's, or with stored blocks, which add five bytes for each 65,535.
        #expect(block.compressed.count <= scenario.bytes.count + 5 * (scenario.bytes.count / 65535 + 1))
    }

    /// Every length of a repetition, and distances with each number of extra bits.
    @Test(arguments: (2...15).map { 1 << $0 }) func allLengths(_ distance: Int) throws {
        var random = SeededRandom(seed: 5)
        for length in stride(from: 4, through: 300, by: distance < 256 ? 1 : 41) {
            let distance = distance + Int.random(in: 0..<distance, using: &random)
            let period = (0..<distance - 1).map { _ in UInt8.random(in: 0x61...0x7A, using: &random) }
            let once = Array("\n".utf8) + period
            let bytes = once + (0..<length).map { once[$0 % once.count] } + Array("!!!!!!!!".utf8)
            #expect(try inflated(block(bytes)) == bytes)
        }
    }

    @Test func zlibReadsAnyBlock() throws {
        var random = SeededRandom(seed: 11)
        var compressor = GzipTextCompressor()
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
        var random = SeededRandom(seed: 13)
        let one = samples(100, random: &random)
        var compressor = GzipTextCompressor()
        let first = compressor.block(one.span)
        _ = compressor.block(samples(50, random: &random).span)
        #expect(compressor.block(one.span) == first)
        #expect(first.compressed.suffix(4) == [0, 0, 0xFF, 0xFF])
    }

    @Test(arguments: [
        ["gzip", "-dc"],
        ["python3", "-c", "import gzip,sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))"],
    ])
    func othersReadAMemberOfThem(_ command: [String]) throws {
        let blocks = TextCase.all.map { block($0.bytes) }
        #expect(try decompress(Gzip.member(of: blocks), with: command) == TextCase.all.flatMap(\.bytes))
        var beginning = Gzip()
        for block in blocks.dropLast() { beginning.append(block) }
        let inTwo = beginning.member(endingWith: blocks[blocks.count - 1])
        #expect(Array(inTwo.joined()) == Gzip.member(of: blocks))
        // The beginning can be ended again.
        #expect(beginning.member(endingWith: blocks[blocks.count - 1]) == inTwo)
    }

    /// It is for speed, but a scrape travels: not more than half as much again as zlib's lowest level makes.
    @Test func samplesBecomeSmall() {
        var random = SeededRandom(seed: 17)
        let text = samples(200, random: &random)
        let size = block(text).compressed.count
        #expect(size < GzipCompressor(level: 1).block(text.span).compressed.count * 3 / 2)
        #expect(size < text.count / 3)
    }
}
