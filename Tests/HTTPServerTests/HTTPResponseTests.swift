import TestSupport
import Testing

@testable import HTTPServer

@Suite struct HTTPResponseTests {
    struct PiecesCase: Sendable, CustomTestStringConvertible {
        var name: String
        var blockBytes: [Int]
        var count: ClosedRange<Int>
        var testDescription: String { name }

        static let all = [
            PiecesCase(name: "none", blockBytes: [], count: 1...1),
            PiecesCase(name: "one", blockBytes: [100_000], count: 1...1),
            PiecesCase(name: "small ones", blockBytes: [1, 0, 3], count: 1...1),
            PiecesCase(
                name: "up to the bound", blockBytes: [HTTPResponse.maximumJoinedBytes / 2, 32768], count: 1...1),
            PiecesCase(name: "over the bound", blockBytes: [HTTPResponse.maximumJoinedBytes, 1], count: 2...2),
            PiecesCase(name: "512", blockBytes: Array(repeating: 1000, count: 512), count: 512...512),
            PiecesCase(name: "513", blockBytes: Array(repeating: 1000, count: 513), count: 2...512),
            PiecesCase(name: "10,000", blockBytes: Array(repeating: 17, count: 10_000), count: 2...512),
            PiecesCase(
                name: "one giant among many",
                blockBytes: Array(repeating: 1, count: 5000) + [1_000_000]
                    + Array(repeating: 0, count: 5000), count: 2...512),
        ]
    }

    @Test(arguments: PiecesCase.all) func piecesHoldTheBlocks(_ scenario: PiecesCase) {
        let blocks = scenario.blockBytes.enumerated().map { index, count in
            [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: count)
        }
        let pieces = pieces(of: .pieces(blocks)) { HTTPResponse.maximumPieces }
        #expect(scenario.count.contains(pieces.count))
        #expect(Array(pieces.joined()) == Array(blocks.joined()))
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

    /// libmicrohttpd 0.9.75 corrupts the response's mutex, and aborts the process with it, when an answer's pieces
    /// find no room beside what the client has sent. Each of these tries to leave none.
    @Test(arguments: RoomCase.all) func piecesFindRoomBesideEveryRequest(_ scenario: RoomCase) throws {
        let blocks = (0..<512).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 500) }
        let content = Array(blocks.joined())
        let server = try serve { _ in HTTPResponse(status: 200, body: .pieces(blocks)) }
        let bystander = try server.connect()
        for _ in 0..<3 {
            let client = try server.connect()
            for part in scenario.parts {
                client.send(part)
                // Served by the same thread: the part before has been read when this is answered.
                #expect(try bystander.request("/").body == content)
            }
            for _ in 0..<min(scenario.requests, 5) {
                guard let answer = try? client.readAnswer() else { break }
                #expect((400..<500).contains(answer.status) || answer.body == content)
                if answer.value("Connection") == "close" { break }
            }
        }
        #expect(try server.connect().request("/").body == content)
    }

    struct RoomCase: Sendable, CustomTestStringConvertible {
        var name: String
        var parts: [String]
        var requests = 1
        var testDescription: String { name }

        static func get(_ fields: String, target: String = "/") -> String {
            "GET \(target) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
        }

        static func fields(_ count: Int) -> String { String(repeating: "a:b\r\n", count: count) }

        static let all: [RoomCase] = manyFields + manyParameters + longHeaders + emptyLines + manyAtOnce

        static let manyFields: [RoomCase] = [50, 100, 150, 170, 180, 190, 200, 300, 400].map {
            RoomCase(name: "\($0) fields", parts: [get(fields($0))])
        }

        static let manyParameters: [RoomCase] = [100, 180, 300].map {
            RoomCase(name: "\($0) parameters", parts: [get("", target: "/?" + String(repeating: "a&", count: $0))])
        }

        static let longHeaders: [RoomCase] = [1000, 4000, 7000, 7900, 8100, 10_000, 12_000, 16_000, 20_000].flatMap {
            count in
            let bytes = String(repeating: "x", count: count)
            let cookies = String(repeating: "a=b; ", count: count / 5)
            let rest = "\r\n\r\n" + String(repeating: get(""), count: 600)
            return [
                RoomCase(name: "\(count) bytes of header", parts: [get("X: \(bytes)\r\n")]),
                RoomCase(name: "\(count) bytes of cookies", parts: [get("Cookie: \(cookies)\r\n")]),
                RoomCase(name: "one cookie of \(count) bytes", parts: [get("Cookie: a=\(bytes)\r\n")]),
                RoomCase(
                    name: "\(count) bytes of header in two parts, then others",
                    parts: ["GET / HTTP/1.1\r\nHost: x\r\nX: \(bytes)", rest], requests: 601),
            ]
        }

        /// Empty lines before a request are passed over, and stay in the connection's memory.
        static let emptyLines: [RoomCase] = [1000, 3000, 4000, 5000, 6000, 7000, 8000].flatMap { lines in
            let empty = String(repeating: "\r\n", count: lines)
            let long = get("X: " + String(repeating: "x", count: 7900) + "\r\n")
            return [
                RoomCase(name: "\(lines) empty lines", parts: [empty + get("")]),
                RoomCase(name: "\(lines) empty lines and a long header", parts: [empty + long]),
                RoomCase(
                    name: "\(lines) empty lines before the second request", parts: [get(""), empty + long], requests: 2),
            ]
        }

        static let manyAtOnce: [RoomCase] = [
            RoomCase(name: "600 at once", parts: [String(repeating: get(""), count: 600)], requests: 600),
            RoomCase(
                name: "many fields, many at once", parts: [String(repeating: get(fields(100)), count: 60)],
                requests: 60),
            RoomCase(
                name: "trailers",
                parts: [get("Transfer-Encoding: chunked\r\n") + "0\r\n" + fields(150) + "\r\n" + get("")],
                requests: 2),
            RoomCase(
                name: "a long chunk extension",
                parts: [
                    get("Transfer-Encoding: chunked\r\n") + "1;" + String(repeating: "x", count: 11_500),
                    "\r\nx\r\n0\r\n\r\n" + String(repeating: get(""), count: 300),
                ], requests: 301),
            RoomCase(
                name: "content, then others",
                parts: [
                    get("Content-Length: 11000\r\n") + String(repeating: "x", count: 10_000),
                    String(repeating: "x", count: 1000) + String(repeating: get(""), count: 600),
                ], requests: 601),
        ]
    }
}
