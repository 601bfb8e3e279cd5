import Testing

@testable import WebSocket

struct HTTPHeadTests {
    /// The header of a valid response, and its fields.
    @Test(
        arguments: [
            ("", []), ("A:b\r\nC: \t d e\t \r\nE:\r\n", ["A=b", "C=d e", "E="]), ("A: b: c\r\n", ["A=b: c"]),
            ("A: b\r\n c\r\n\t d \r\nE: f\r\n", ["A=b c d", "E=f"]), ("A: b\r\n \r\nE: f\r\n", ["A=b", "E=f"]),
            ("A: b\n", ["A=b"]), ("A: é\r\n", ["A=é"]),
        ])
    func `A head is read the same in any pieces`(header: String, fields: [String]) {
        for pieces in [Int.max / 2, 1, 3] {
            let text = "HTTP/1.1 101 X\r\n\(header)\r\n"
            let outcome = read(Array((text + "rest").utf8), pieces: pieces)
            #expect(outcome.head?.startLine == "HTTP/1.1 101 X")
            #expect(outcome.head?.fields.map { "\($0.name)=\($0.value)" } == fields)
            #expect(outcome.position == text.utf8.count, "what follows is left alone")
        }
    }

    private static let beginning = "it does not begin with HTTP/1."
    private static let badLine = "a header line is not \"Name: value\""

    @Test(arguments: [
        ("220 mail.example.com ESMTP\r\n", beginning), ("HTTP\n", beginning), ("\r\nHTTP/1.1 101 X\r\n", beginning),
        ("HTTP/1.1 1\u{1}01\r\n\r\n", "the first line has a control character"),
        ("HTTP/1.1 101 X\r\n a\r\n\r\n", badLine), ("HTTP/1.1 101 X\r\nA b\r\n\r\n", badLine),
        ("HTTP/1.1 101 X\r\n: b\r\n\r\n", badLine), ("HTTP/1.1 101 X\r\nA : b\r\n\r\n", badLine),
        ("HTTP/1.1 101 X\r\nA: b\u{0}c\r\n\r\n", badLine), ("HTTP/1.1 101 X\r\nA: b\rc\r\n\r\n", badLine),
        ("HTTP/1.1 101 X\r\nA: b\r\n \u{0}\r\n\r\n", badLine),
    ])
    func `A malformed head is rejected in any pieces`(text: String, error: String) {
        for pieces in [Int.max / 2, 1, 3] { #expect(read(Array(text.utf8), pieces: pieces).error == error) }
    }

    private func read(_ bytes: [UInt8], pieces: Int) -> (head: HTTPHead?, position: Int, error: String?) {
        var reader = HTTPHeadReader(beginning: "HTTP/1.")
        var start = 0
        while start < bytes.count {
            let piece = bytes.span.extracting(start..<min(bytes.count, start + pieces))
            var position = 0
            do throws(HandshakeRejection) {
                if let head = try reader.read(piece, at: &position) { return (head, start + position, nil) }
            } catch {
                return (nil, start + position, error.reason)
            }
            start += piece.count
        }
        return (nil, start, nil)
    }

    @Test func `A head and the interim heads before it are limited to 64 KiB together`() {
        let interim = "HTTP/1.1 103 X\r\n\r\n"
        let line = "A: \(String(repeating: "x", count: 1000))\r\n"
        let start = "HTTP/1.1 101 X\r\n"
        for surplus in [0, 1] {
            var text = interim + start
            while text.utf8.count + line.utf8.count + 100 < 65_536 { text += line }
            let left = 65_536 - text.utf8.count - "B: \r\n\r\n".utf8.count + surplus
            text += "B: \(String(repeating: "y", count: left))\r\n\r\n"
            var reader = HTTPHeadReader(beginning: "HTTP/1.")
            var position = 0
            let bytes = Array(text.utf8)
            #expect(throws: Never.self) { try reader.read(bytes.span, at: &position) }
            #expect(position == interim.utf8.count)
            if surplus == 0 {
                #expect(throws: Never.self) { try reader.read(bytes.span, at: &position)?.fields.first("b") }
                #expect(position == 65_536)
            } else {
                let error = #expect(throws: HandshakeRejection.self) { try reader.read(bytes.span, at: &position) }
                #expect(error?.reason == "the header is longer than 65536 bytes")
            }
        }
    }
}
