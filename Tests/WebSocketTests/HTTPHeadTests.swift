import Bytes
import HTTPText
import Testing

@testable import WebSocket

struct HTTPHeadTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var text: String
        var fields: [HTTPField] = []
        var error: String?
        var testDescription: String { name }

        private static let beginning = "it does not begin with HTTP/1."
        private static let badLine = "the header has a line that is no \"Name: value\""

        private static func field(_ name: String, _ value: String) -> HTTPField { HTTPField(name: name, value: value) }

        static let all: [Row] = [
            Row(name: "no field", text: "HTTP/1.1 101 X\r\n\r\n"),
            Row(
                name: "blanks and tabs around a value", text: "HTTP/1.1 101 X\r\nA:b\r\nC: \t d e\t \r\nE:\r\n\r\n",
                fields: [field("A", "b"), field("C", "d e"), field("E", "")]),
            Row(name: "a value with colons", text: "HTTP/1.1 101 X\r\nA: b: c\r\n\r\n", fields: [field("A", "b: c")]),
            Row(
                name: "a folded line", text: "HTTP/1.1 101 X\r\nA: b\r\n c\r\n\t d \r\nE: f\r\n\r\n",
                fields: [field("A", "b c d"), field("E", "f")]),
            Row(
                name: "a folded line of blanks", text: "HTTP/1.1 101 X\r\nA: b\r\n \r\nE: f\r\n\r\n",
                fields: [field("A", "b"), field("E", "f")]),
            Row(name: "lines that end with LF", text: "HTTP/1.1 101 X\nA: b\n\n", fields: [field("A", "b")]),
            Row(name: "bytes outside of ASCII", text: "HTTP/1.1 101 X\r\nA: é\r\n\r\n", fields: [field("A", "é")]),
            Row(name: "another protocol", text: "220 mail.example.com ESMTP\r\n", error: beginning),
            Row(name: "the end of a line too early", text: "HTTP\n", error: beginning),
            Row(
                name: "a control character in the first line", text: "HTTP/1.1 1\u{1}01\r\n\r\n",
                error: "the first line has a control character"),
            Row(name: "an empty line first", text: "\r\nHTTP/1.1 101 X\r\n", error: beginning),
            Row(name: "a folded line that follows nothing", text: "HTTP/1.1 101 X\r\n a\r\n\r\n", error: badLine),
            Row(name: "no colon", text: "HTTP/1.1 101 X\r\nA b\r\n\r\n", error: badLine),
            Row(name: "no name", text: "HTTP/1.1 101 X\r\n: b\r\n\r\n", error: badLine),
            Row(name: "a blank before the colon", text: "HTTP/1.1 101 X\r\nA : b\r\n\r\n", error: badLine),
            Row(name: "a NUL", text: "HTTP/1.1 101 X\r\nA: b\u{0}c\r\n\r\n", error: badLine),
            Row(name: "a NUL in a folded line", text: "HTTP/1.1 101 X\r\nA: b\r\n \u{0}\r\n\r\n", error: badLine),
            Row(name: "a lone CR", text: "HTTP/1.1 101 X\r\nA: b\rc\r\n\r\n", error: badLine),
        ]
    }

    @Test(arguments: Row.all) func `A head is read the same in any pieces, or rejected`(_ row: Row) throws {
        for pieces in [Int.max / 2, 1, 3] {
            let outcome = read(Array((row.text + "rest").utf8), pieces: pieces)
            #expect(outcome.error == row.error)
            guard row.error == nil else { continue }
            #expect(outcome.head?.startLine == "HTTP/1.1 101 X")
            #expect(outcome.head?.fields == row.fields)
            #expect(outcome.position == row.text.utf8.count, "what follows is left alone")
        }
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

    @Test func `A head is limited to 64 KiB, together with those of interim responses`() {
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
