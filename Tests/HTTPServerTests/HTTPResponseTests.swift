import TestSupport
import Testing

@testable import HTTPServer

@Suite struct HTTPResponseTests {
    /// Around the size from which content is sent block by block, and around the blocks.
    @Test(arguments: [
        [], [1, 0, 3], [100_000], [65_536], [65_537], [65_536, 1], [0, 262_144, 0], [262_143, 1, 1],
        Array(repeating: 1000, count: 513), Array(repeating: 17, count: 10_000), [1, 1_000_000, 2, 3_000_000, 0],
    ]) func piecesAreSentOneAfterAnother(_ counts: [Int]) throws {
        let pieces = counts.enumerated().map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $1) }
        let server = try serve { _ in HTTPResponse(status: 200, body: .pieces(pieces)) }
        let client = try server.connect()
        for _ in 0..<2 {
            #expect(try client.request("/").body == Array(pieces.joined()))
            let head = try client.request("/", method: "HEAD")
            #expect(head.value("Content-Length") == "\(counts.reduce(0, +))")
        }
    }

    @Test func contentBytesCountsAllBlocks() {
        #expect(HTTPResponse(status: 200, body: .pieces([[1, 2], [], [3]])).contentBytes == 3)
        #expect(HTTPResponse(status: 200, line: "x").contentBytes == 2)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", ""]) func aBadHeaderValueIsLeftOut(_ value: String) throws {
        let server = try serve { _ in
            HTTPResponse(status: 200, headers: [("X-Bad", value), ("X-Good", "1")], body: .bytes([]))
        }
        let answer = try server.connect().request("/")
        #expect(answer.values("X-Bad").isEmpty)
        #expect(answer.values("X-Evil").isEmpty)
        #expect(answer.value("X-Good") == "1")
        #expect(answer.value("Content-Length") == "0")
    }
}
