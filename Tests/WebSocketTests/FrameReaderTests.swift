import Testing

@testable import WebSocket

/// The items that a reader found in a stream of bytes.
private struct Outcome: Equatable {
    enum Item: Equatable {
        case text(String)
        case binary([UInt8])
        case tooLarge(Int)
        case ping([UInt8])
        case close(CloseFrame)

        init(_ kind: WebSocketMessageKind, _ bytes: [UInt8]) {
            switch kind {
            case .text: self = .text(String(decoding: bytes, as: UTF8.self))
            case .binary: self = .binary(bytes)
            case .tooLarge(let count):
                #expect(bytes.isEmpty)
                self = .tooLarge(count)
            }
        }
    }

    var items: [Item] = []
    var violation: String?

    /// - Parameter pieces: lengths of the pieces in which the bytes arrive, repeated as needed.
    init(
        _ bytes: [UInt8], from sender: FrameHeader.Sender = .server, pieces: [Int], limit: Int = 1 << 20,
        compression: Compression? = nil
    ) {
        var reader = FrameReader(from: sender, maximumMessageBytes: limit, compression: compression)
        var items: [Item] = []
        var position = 0
        var piece = 0
        do throws(ProtocolViolation) {
            while position < bytes.count {
                let end = min(bytes.count, position + pieces[piece % pieces.count])
                let part = Array(bytes[position..<end])
                var offset = 0
                while let event = try reader.next(part.span, at: &offset) {
                    switch event {
                    case .message(let kind, let bytes): items.append(Item(kind, bytes))
                    case .messageInPlace(let kind, let range): items.append(Item(kind, Array(part[range])))
                    case .ping(let payload): items.append(.ping(payload))
                    case .pong: break
                    case .close(let frame): items.append(.close(frame))
                    }
                }
                position = end
                piece += 1
            }
        } catch {
            violation = error.description
        }
        self.items = items
    }
}

/// A server's frame.
func frame(_ first: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    switch payload.count {
    case ..<126: [first, UInt8(payload.count)] + payload
    case ..<0x10000: [first, 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
    default: [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) } + payload
    }
}

func frame(_ first: UInt8, _ text: String) -> [UInt8] { frame(first, Array(text.utf8)) }

struct FrameReaderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        fileprivate var items: [Outcome.Item]
        var violation: String?
        var limit: Int
        var compression: Compression?
        var testDescription: String { name }

        fileprivate init(
            _ name: String, _ bytes: [UInt8], _ items: [Outcome.Item] = [], violation: String? = nil,
            limit: Int = 1 << 20, compression: Compression? = nil
        ) {
            self.name = name
            self.bytes = bytes
            self.items = items
            self.violation = violation
            self.limit = limit
            self.compression = compression
        }

        private static let status1000: Outcome.Item = .close(try! CloseFrame(payload: [3, 232]))
        /// "Hello" as RFC 7692, section 7.2.3.1, compresses it.
        private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

        /// "Hello" as a reference to the end of the previous message.
        private static let helloAgain: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        /// "HelloHello", half of which is in the previous message, as zlib compresses it.
        private static let repeated: [UInt8] = [0xF2, 0x80, 0x13, 0x00, 0x00]

        static let messages: [Row] = [
            Row("no bytes", []), Row("text", frame(0x81, "[]"), [.text("[]")]),
            Row("empty text", frame(0x81), [.text("")]), Row("binary", frame(0x82, [0, 255]), [.binary([0, 255])]),
            Row(
                "each length form", [125, 126, 65535, 65536].flatMap { frame(0x82, [UInt8](repeating: 7, count: $0)) },
                [125, 126, 65535, 65536].map { .binary([UInt8](repeating: 7, count: $0)) }),
            Row("fragments", frame(0x01, "a") + frame(0x00) + frame(0x00, "b") + frame(0x80, "c"), [.text("abc")]),
            Row("empty fragments", frame(0x02) + frame(0x80), [.binary([])]),
            Row(
                "control frames between fragments",
                frame(0x01, "a") + frame(0x89, "p") + frame(0x8A, "q") + frame(0x80, "b"), [.ping([0x70]), .text("ab")]),
            Row(
                "longest control frame", frame(0x89, [UInt8](repeating: 1, count: 125)),
                [.ping([UInt8](repeating: 1, count: 125))]),
            Row("text that is not UTF-8", frame(0x81, [0x5B, 0xFF, 0x5D]), [.text("[\u{FFFD}]")]),
            Row("close", frame(0x88, [3, 232]), [status1000]),
            Row("close without a status", frame(0x88), [.close(try! CloseFrame(payload: []))]),
            Row("nothing is read after a close", frame(0x88, [3, 232]) + [0xFF, 0xFF, 0xFF], [status1000]),
            Row(
                "a message up to the limit and one beyond it",
                frame(0x81, "12345") + frame(0x81, "123456") + frame(0x81, "1"),
                [.text("12345"), .tooLarge(6), .text("1")], limit: 5),
            Row(
                "fragments up to the limit and beyond it",
                frame(0x01, "123") + frame(0x80, "45") + frame(0x01, "123") + frame(0x89, "p") + frame(0x80, "456")
                    + frame(0x81, "1"), [.text("12345"), .ping([0x70]), .tooLarge(6), .text("1")], limit: 5),
            Row(
                "compressed", frame(0xC1, hello) + frame(0x81, "plain") + frame(0xC2, hello),
                [.text("Hello"), .text("plain"), .binary(Array("Hello".utf8))], compression: .withoutContext),
            Row(
                "compressed fragments with a ping between",
                frame(0x41, Array(hello[..<3])) + frame(0x89) + frame(0x80, Array(hello[3...])),
                [.ping([]), .text("Hello")], compression: .withoutContext),
            Row("compressed empty message", frame(0xC1, [0x00]), [.text("")], compression: .withoutContext),
            Row(
                "ended deflate stream (RFC 7692, 7.2.3.4)",
                frame(0xC1, [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]) + frame(0xC1, hello),
                [.text("Hello"), .text("Hello")], compression: .withoutContext),
            Row(
                "compressed beyond the limit", frame(0xC1, hello) + frame(0x81, "ok"), [.tooLarge(7), .text("ok")],
                limit: 4, compression: .withoutContext),
            Row(
                "with context takeover (RFC 7692, 7.2.3.2)",
                frame(0xC1, hello) + frame(0xC1, helloAgain) + frame(0xC1, helloAgain),
                [.text("Hello"), .text("Hello"), .text("Hello")], compression: .withContext),
            Row(
                "a message that is too large stays in the window",
                frame(0xC1, hello) + frame(0xC1, repeated) + frame(0xC1, helloAgain),
                [.text("Hello"), .tooLarge(5), .text("Hello")], limit: 5, compression: .withContext),
            Row(
                "an ended deflate stream keeps its window",
                frame(0xC1, [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]) + frame(0xC1, helloAgain),
                [.text("Hello"), .text("Hello")], compression: .withContext),
        ]

        static let violations: [Row] =
            [
                Row("masked", [0x81, 0x81, 1, 2, 3, 4, 5], violation: "masked frame from the server"),
                Row("RSV1", [0xC1, 0], violation: "compressed frame, but compression was not negotiated"),
                Row("RSV2", [0xA1, 0], violation: "reserved bit set in a frame"),
                Row("RSV3", [0x91, 0], violation: "reserved bit set in a frame", compression: .withoutContext),
                Row(
                    "continuation without a message", frame(0x80, "a"),
                    violation: "continuation frame without a message"),
                Row(
                    "continuation after the end", frame(0x81, "a") + frame(0x80, "b"), [.text("a")],
                    violation: "continuation frame without a message"),
                Row(
                    "message within a message", frame(0x01, "a") + frame(0x81, "b"),
                    violation: "new message before the end of the previous one"),
                Row("fragmented ping", [0x09, 0], violation: "fragmented control frame"),
                Row("long ping", [0x89, 126, 0, 126], violation: "control frame longer than 125 bytes"),
                Row("compressed ping", [0xC9, 0], violation: "compressed control frame", compression: .withoutContext),
                Row("2^63", [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], violation: "frame length of 2^63 or more"),
                Row("long form of 125", [0x82, 126, 0, 125], violation: "frame length not in its shortest form"),
                Row(
                    "long form of 65535", [0x82, 127, 0, 0, 0, 0, 0, 0, 255, 255],
                    violation: "frame length not in its shortest form"),
                Row("close of one byte", frame(0x88, [3]), violation: "close frame of one byte"),
                Row("close reason not UTF-8", frame(0x88, [3, 232, 0xFF]), violation: "close reason is not UTF-8"),
                Row(
                    "continuation with RSV1", frame(0x41, [0x00]) + frame(0xC0),
                    violation: "compression bit on a continuation frame", compression: .withoutContext),
                Row(
                    "a reference to a message before it, without context takeover",
                    frame(0xC1, hello) + frame(0xC1, helloAgain), [.text("Hello")],
                    violation: "compressed message is damaged", compression: .withoutContext),
                Row(
                    "damaged compression", frame(0xC1, [0xFF, 0xFF, 0xFF, 0xFF]),
                    violation: "compressed message is damaged", compression: .withoutContext),
                Row(
                    "a valid message followed by garbage", frame(0x81, "ok") + Array("GET / HTTP".utf8), [.text("ok")],
                    violation: "reserved opcode 7"),
            ]
            + [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map { (opcode: UInt8) in
                Row("opcode \(opcode)", [0x80 | opcode, 0], violation: "reserved opcode \(opcode)")
            }
            + [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535].map { (status: UInt16) in
                Row(
                    "close status \(status)", frame(0x88, FrameWriter.closePayload(status: status)),
                    violation: "invalid close status \(status)")
            }
    }

    /// Whole, byte by byte, and in pieces of odd sizes.
    private static let pieces = [[Int.max / 2], [1], [2], [3, 1, 7], [1000, 1]]

    @Test(arguments: Row.messages + Row.violations) func `Frames are read or rejected in any pieces`(_ row: Row) {
        for pieces in Self.pieces where row.bytes.count < 10_000 || pieces[0] > 500 {
            let outcome = Outcome(row.bytes, pieces: pieces, limit: row.limit, compression: row.compression)
            #expect(outcome.items == row.items, "in pieces of \(pieces)")
            #expect(outcome.violation == row.violation, "in pieces of \(pieces)")
        }
    }

    @Test(arguments: [1000, 1001, 1002, 1003, 1007, 1011, 1012, 1013, 1014, 3000, 4999] as [UInt16])
    func `Valid close statuses are accepted`(status: UInt16) throws {
        #expect(try CloseFrame(payload: FrameWriter.closePayload(status: status)).status == status)
    }

    @Test func `A frame of 2^63 − 1 bytes is no violation`() {
        let bytes: [UInt8] = [0x82, 127, 0x7F, 255, 255, 255, 255, 255, 255, 255] + [UInt8](repeating: 0, count: 5000)
        #expect(Outcome(bytes, pieces: [Int.max / 2], limit: 1000).violation == nil)
    }

    @Test(arguments: [Compression.withoutContext, .withContext])
    func `A decompression bomb is too large, and the messages after it are read`(
        _ compression: Compression
    ) {
        let zeros = deflatedZeros(bytes: 16 << 20)
        let frame = frame(0xC1, zeros) + frame(0xC2, zeros) + frame(0xC2, deflatedZeros(bytes: 300))
        let outcome = Outcome(frame, pieces: [4096], limit: 1 << 20, compression: compression)
        let small = [UInt8](repeating: 0, count: 300)
        #expect(outcome.items == [.tooLarge(zeros.count), .tooLarge(zeros.count), .binary(small)])
        #expect(outcome.violation == nil)
    }

    @Test func `A compressed message is read whole, at lengths around the steps of the output`() {
        for count in [0, 1, 16383, 16384, 16385, 16642, 32768, 100_000] {
            let frame = frame(0xC2, deflatedZeros(bytes: count))
            for pieces in [[Int.max / 2], [1], [5]] {
                let outcome = Outcome(frame, pieces: pieces, compression: .withoutContext)
                #expect(outcome.items == [.binary([UInt8](repeating: 0, count: count))])
            }
        }
    }

    @Test func `A client's frames are unmasked in any pieces`() {
        let texts = [0, 1, 125, 126, 1000, 65535, 65536].map { count in
            String(decoding: (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }, as: UTF8.self)
        }
        let ping = FrameWriter.frame(.ping, Array("ping".utf8), mask: 0xFFFF_FFFF)
        let bytes = texts.flatMap { FrameWriter.frame(.text, Array($0.utf8), mask: 0x1234_5678) } + ping
        for pieces in [[Int.max / 2], [1], [3, 5, 7]] {
            let outcome = Outcome(bytes, from: .client, pieces: pieces)
            #expect(outcome.items == texts.map { .text($0) } + [.ping(Array("ping".utf8))])
            #expect(outcome.violation == nil)
        }
    }

    @Test func `A client's frame without a mask is rejected`() {
        let outcome = Outcome(frame(0x81, "[]"), from: .client, pieces: [1])
        #expect(outcome.violation == "frame without a mask from the client")
    }

    @Test(
        arguments: [
            ([3, 232, 0xFF], 1007), ([3, 232, 0xC3], 1007), ([3], 1002), ([3, 237], 1002), ([0, 0], 1002),
        ] as [([UInt8], UInt16)])
    func `Each violation in a close frame has the status of RFC 6455, section 7.4.1`(payload: [UInt8], status: UInt16) {
        let violation = #expect(throws: ProtocolViolation.self) { try CloseFrame(payload: payload) }
        #expect(violation?.closeStatus == status)
    }

    @Test(arguments: [0, 1, 125, 126, 65535, 65536])
    func `Written frames are final and in the shortest form, and only a client's are masked`(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        #expect(FrameWriter.frame(.text, payload, mask: nil) == frame(0x81, payload))
        let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        let written = FrameWriter.frame(.text, payload, mask: 0x1234_5678)
        var expected = frame(0x81, payload)
        let header = expected.count - count
        expected[1] |= 0x80
        expected.insert(contentsOf: mask, at: header)
        for index in 0..<count { expected[header + 4 + index] ^= mask[index % 4] }
        #expect(written == expected)
    }
}
