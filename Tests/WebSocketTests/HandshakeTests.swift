import Testing

@testable import Bytes
@testable import System
@testable import WebSocket

@Suite struct HandshakeTests {
    private static let key = Array("the sample nonce".utf8)
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func dial(_ address: String, isTrusted: Bool = true) throws -> ConnectionState.Dial {
        ConnectionState.Dial(ipAddress: "127.0.0.1", address: try WebSocketAddress(address), isTrusted: isTrusted)
    }

    private func text(_ request: HandshakeRequest) -> String { String(decoding: request.lines, as: UTF8.self) }

    @Test("the accept value of RFC 6455, section 1.3") func accepts() throws {
        let request = try HandshakeRequest(dial("ws://host/"), headers: [], key: Self.key)
        #expect(request.expectedAccept == Self.accept)
        #expect(
            text(request) == """
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r

                """)
    }

    @Test("authorization and headers go to the host that was asked for only") func secrets() throws {
        let headers = [(name: "X-Key", value: "k")]
        let request = try HandshakeRequest(dial("ws://u:p@host/"), headers: headers, key: Self.key)
        #expect(text(request).hasSuffix("\r\nAuthorization: Basic dTpw\r\nX-Key: k\r\n"))
        let other = try HandshakeRequest(dial("ws://other/", isTrusted: false), headers: headers, key: Self.key)
        #expect(!text(other).contains("X-Key"))
        let own = try HandshakeRequest(
            dial("ws://u:p@host/"), headers: [(name: "authorization", value: "Bearer t")], key: Self.key)
        #expect(text(own).hasSuffix("\r\nauthorization: Bearer t\r\n"))
        #expect(!text(own).contains("Basic"))
    }

    @Test(
        "header lines",
        arguments: [
            ("Name: value", "Name", "value"), ("X-A:b:c", "X-A", "b:c"), ("X:\t v w \t", "X", "v w"), ("X:", "X", ""),
            ("X: é", "X", "é"),
        ])
    func headerLines(line: String, name: String, value: String) throws {
        let header = try WebSocketHeader.parse(line)
        #expect(header.name == name)
        #expect(header.value == value)
    }

    @Test(
        "bad header lines",
        arguments: [
            ("no colon, secret", "a header has no colon: Name: value was expected"),
            (": v", "a header's name is not a token of RFC 9110: Name: value was expected"),
            ("a b: v", "a header's name is not a token of RFC 9110: Name: value was expected"),
            ("Host: v", "the header Host is the handshake's own and cannot be given"),
            ("sec-websocket-KEY: v", "the header sec-websocket-KEY is the handshake's own and cannot be given"),
            ("X: a\r\nY: b", "the value of the header X has a control character"),
            ("X: a\u{0}b", "the value of the header X has a control character"),
        ])
    func badHeaderLines(line: String, reason: String) {
        let error = #expect(throws: SystemError.self) { try WebSocketHeader.parse(line) }
        #expect(error?.reason == reason)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var head: HandshakeAnswer.Head
        var answer: HandshakeAnswer
        var testDescription: String { name }

        private static let good = HandshakeAnswer.Head(
            status: 101, upgrade: "websocket", connection: "Upgrade", accept: HandshakeTests.accept)

        private static func changed(_ change: (inout HandshakeAnswer.Head) -> Void) -> HandshakeAnswer.Head {
            var head = good
            change(&head)
            return head
        }

        private static func refused(_ detail: String, _ retryAfter: Duration? = nil) -> HandshakeAnswer {
            .refused(detail: detail, retryAfter: retryAfter)
        }

        private static func extensions(_ text: String, _ answer: HandshakeAnswer? = nil) -> Row {
            Row(
                name: text, head: changed { $0.extensions = text },
                answer: answer ?? refused("status 101 with an extension that was not offered: \(text)"))
        }

        static let all: [Row] = [
            Row(name: "good", head: good, answer: .accepted(isCompressed: false)),
            Row(name: "other case", head: changed { $0.upgrade = "WebSocket" }, answer: .accepted(isCompressed: false)),
            Row(
                name: "list", head: changed { $0.connection = "keep-alive, UPGRADE" },
                answer: .accepted(isCompressed: false)),
            Row(
                name: "no upgrade", head: changed { $0.upgrade = nil },
                answer: refused("status 101 without Upgrade: websocket")),
            Row(
                name: "upgrade to h2c", head: changed { $0.upgrade = "h2c" },
                answer: refused("status 101 without Upgrade: websocket")),
            Row(
                name: "no connection", head: changed { $0.connection = nil },
                answer: refused("status 101 without Connection: Upgrade")),
            Row(
                name: "connection: close", head: changed { $0.connection = "close" },
                answer: refused("status 101 without Connection: Upgrade")),
            Row(
                name: "no accept", head: changed { $0.accept = nil },
                answer: refused("status 101 with a wrong Sec-WebSocket-Accept")),
            Row(
                name: "wrong accept", head: changed { $0.accept = "x" },
                answer: refused("status 101 with a wrong Sec-WebSocket-Accept")),
            Row(name: "body", head: changed { $0.hasBody = true }, answer: refused("status 101 with a body")),
            extensions(
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                .accepted(isCompressed: true)),
            extensions("permessage-deflate;server_no_context_takeover", .accepted(isCompressed: true)),
            extensions(
                "permessage-deflate; server_max_window_bits=12; Server_No_Context_Takeover",
                .accepted(isCompressed: true)),
            extensions("permessage-deflate"),
            extensions("permessage-deflate; server_no_context_takeover; client_max_window_bits=10"),
            extensions("permessage-deflate; server_no_context_takeover; server_max_window_bits=16"),
            extensions("permessage-deflate; server_no_context_takeover; server_no_context_takeover"),
            extensions("permessage-deflate; server_no_context_takeover, x-other"),
            extensions("x-webkit-deflate-frame"),
            Row(name: "200", head: .init(status: 200), answer: refused("status 200 instead of 101")),
            Row(name: "401", head: .init(status: 401), answer: refused("status 401 instead of 101")),
            Row(
                name: "503 with seconds", head: .init(status: 503, retryAfter: "120"),
                answer: refused("status 503 instead of 101", .seconds(120))),
            Row(
                name: "429 with a date", head: .init(status: 429, retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"),
                answer: refused("status 429 instead of 101", .seconds(37))),
            Row(
                name: "a date in the past", head: .init(status: 429, retryAfter: "Sun, 06 Nov 1994 08:48:37 GMT"),
                answer: refused("status 429 instead of 101", .zero)),
            Row(
                name: "neither", head: .init(status: 503, retryAfter: "soon"),
                answer: refused("status 503 instead of 101")),
            Row(
                name: "redirect", head: .init(status: 307, location: "/x"), answer: .redirected(to: "/x")),
            Row(
                name: "redirect to nowhere", head: .init(status: 302), answer: refused("status 302 without a Location")),
            Row(name: "304", head: .init(status: 304), answer: refused("status 304 instead of 101")),
        ]
    }

    @Test("answers", arguments: Row.all) func answers(_ row: Row) {
        // Sun, 06 Nov 1994 08:49:00 GMT
        let answer = HandshakeAnswer(row.head, expectedAccept: Self.accept, now: 784_111_740_000)
        #expect(answer == row.answer)
    }

    @Test(
        "dates",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
            ("Sun, 06 Foo 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("", nil),
        ] as [(String, Int64?)])
    func dates(text: String, seconds: Int64?) {
        #expect(parseHTTPDate(text) == seconds)
    }
}
