import Foundation
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

/// What another program makes of these bytes.
func decompress(_ member: [UInt8], with command: [String]) throws -> [UInt8] {
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

private func block(_ bytes: [UInt8], level: Int = 1) -> GzipBlock {
    GzipCompressor(level: level).block(bytes)
}

extension GzipCompressor {
    fileprivate func block(_ bytes: [UInt8]) -> GzipBlock { block(bytes.span) }
}

private func member(_ blocks: [GzipBlock]) -> [UInt8] { Gzip.member(of: blocks) }

@Suite struct HTTPGzipTests {
    @Test(arguments: [["gzip", "-dc"], python, pythonFirstMember]) func othersReadTheMember(_ command: [String]) throws
    {
        var random = SystemRandomNumberGenerator()
        let contents: [[[UInt8]]] = [
            [], [[]], [[65]], [[], [65], [], []],
            [Array("airquality_index{city=\"Pune\"} 1\n".utf8), Array("airquality_index{city=\"Delhi\"} 2\n".utf8)],
            (0..<300).map { index in Array("airquality_index{city=\"City \(index)\"} \(index * 7 % 500)\n".utf8) },
            (0..<8).map { _ in (0..<Int.random(in: 0...200_000)).map { _ in UInt8.random(in: 0...255, using: &random) }
            },
            [[UInt8](repeating: 0, count: 2_000_000)],
        ]
        for blocks in contents {
            let compressed = member(blocks.map { block($0) })
            #expect(try decompress(compressed, with: command) == Array(blocks.joined()))
        }
    }

    @Test func anySplitReadsTheSame() throws {
        var random = SeededRandom(seed: 7)
        let text = (0..<5000).flatMap { Array("airquality_index{city=\"City \($0)\"} \($0 * 31 % 500)\n".utf8) }
        var members: [UInt8] = []
        for _ in 0..<15 {
            var blocks: [GzipBlock] = []
            var start = 0
            while start < text.count {
                let end = min(text.count, start + Int.random(in: 0...text.count / 3, using: &random))
                blocks.append(block(Array(text[start..<end]), level: Int.random(in: 1...9, using: &random)))
                start = end
            }
            members += member(blocks)
        }
        // gzip reads several members as one text.
        let plain = try decompress(members, with: ["gzip", "-dc"])
        #expect(plain.count == 15 * text.count)
        for index in 0..<15 { #expect(plain[index * text.count..<(index + 1) * text.count].elementsEqual(text)) }
    }

    /// A block must not depend on what the same state compressed before it.
    @Test func blocksStandAlone() {
        let compressor = GzipCompressor(level: 6)
        let one = Array("the same text again and again".utf8)
        let first = compressor.block(one)
        _ = compressor.block(Array("something else".utf8))
        #expect(compressor.block(one) == first)
        #expect(GzipCompressor(level: 6).block(one) == first)
        #expect(first.compressed.suffix(4) == [0, 0, 0xFF, 0xFF])
    }

    @Test func blocksOfManyThreadsAreRight() throws {
        let compressor = GzipCompressor()
        let texts = (0..<8).map { index in [UInt8](repeating: UInt8(index), count: 100_000 + index) }
        let expected = texts.map { block($0) }
        let threads = try texts.indices.map { index in
            try ServiceThread(name: "gzip") {
                for _ in 0..<10 { #expect(compressor.block(texts[index]) == expected[index]) }
            }
        }
        for thread in threads { thread.join() }
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
        let member = member(Array(repeating: zeros, count: 65))
        #expect(member.suffix(4) == [0, 0, 0, 4])
        #expect(try decompress(member, with: ["gzip", "-t"]).isEmpty)
    }

    struct AcceptCase: Sendable, CustomTestStringConvertible {
        var header: String?
        var gzip: Bool
        var testDescription: String { header ?? "no header" }

        static let all: [AcceptCase] = [
            .init(header: nil, gzip: false), .init(header: "", gzip: false), .init(header: "gzip", gzip: true),
            .init(header: "GZip", gzip: true), .init(header: "x-gzip", gzip: true),
            .init(header: "gzip, deflate, br, zstd", gzip: true), .init(header: "deflate, br", gzip: false),
            .init(header: "deflate,gzip;q=0", gzip: false), .init(header: "gzip;q=0.0", gzip: false),
            .init(header: "gzip;q=0.000", gzip: false), .init(header: "gzip;q=0.001", gzip: true),
            .init(header: " gzip ; q=0.5 ", gzip: true), .init(header: "gzip;Q=0", gzip: false),
            .init(header: "gzip\t;\tq=1.000", gzip: true), .init(header: "*", gzip: true),
            .init(header: "*;q=0", gzip: false), .init(header: "*;q=0, gzip", gzip: true),
            .init(header: "gzip;q=0, *", gzip: false), .init(header: "identity", gzip: false),
            .init(header: "identity;q=0, gzip", gzip: true), .init(header: "identity;q=0", gzip: false),
            .init(header: "identity;q=1, gzip;q=0.5", gzip: false),
            .init(header: "identity;q=0.5, gzip;q=0.5", gzip: true),
            .init(header: "identity;q=0.5, *;q=0.7", gzip: true), .init(header: "gzip;q=1.001", gzip: false),
            .init(header: "gzip;q=2", gzip: false), .init(header: "gzip;q=", gzip: false),
            .init(header: "gzip;q=abc", gzip: false), .init(header: "gzip;q=-1", gzip: false),
            .init(header: "gzip;q=0.1234", gzip: false), .init(header: "gzip;q=0.5;x=1", gzip: true),
            .init(header: "gzip;x=1;q=0", gzip: false), .init(header: ",,gzip,,", gzip: true),
            .init(header: "gzipped", gzip: false), .init(header: "xgzip", gzip: false),
            .init(header: "gzip zip", gzip: false),
            .init(header: "gzip;q=abc, x-gzip", gzip: true), .init(header: "gzip;", gzip: true),
        ]
    }

    @Test(arguments: AcceptCase.all) func acceptEncoding(_ scenario: AcceptCase) {
        #expect(prefersGzip(acceptEncoding: scenario.header) == scenario.gzip)
    }
}
