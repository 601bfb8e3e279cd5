import Testing

@testable import HTTPServer

@Suite struct HTTPResponseTests {
    @Test(arguments: [
        [], [1, 0, 3], [65_536, 1], [0, 262_144, 0], [262_143, 1, 1], [1, 1_000_000, 2, 3_000_000, 0],
    ])
    func `The pieces of a body are sent one after another`(_ counts: [Int]) throws {
        let pieces = counts.enumerated().map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $1) }
        let server = try serve { _ in HTTPResponse(status: 200, body: .pieces(pieces)) }
        let client = try server.connect()
        for _ in 0..<2 { #expect(try client.request("/").body == Array(pieces.joined())) }
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", ""]) func `An invalid field is left out`(_ value: String) throws {
        let server = try serve { _ in
            HTTPResponse(status: 200, headers: [("X-Bad", value), ("X-Good", "1")], body: .bytes([]))
        }
        let response = try server.connect().request("/")
        #expect(response.values("X-Bad").isEmpty)
        #expect(response.values("X-Evil").isEmpty)
        #expect(response.value("X-Good") == "1")
        #expect(response.value("Content-Length") == "0")
    }
}
