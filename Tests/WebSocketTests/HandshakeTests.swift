import HTTPText
import Testing

@testable import Bytes
@testable import System
@testable import WebSocket

struct HandshakeTests {
    private static let key = Array("the sample nonce".utf8)
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private static func request(
        _ address: String = "ws://host/", fields: [HTTPField] = [], subprotocols: [String] = []
    ) throws -> HandshakeRequest {
        HandshakeRequest(
            try WebSocketAddress(address), fields: fields, subprotocols: subprotocols, userAgent: "x/1", key: key)
    }

    private func text(_ request: HandshakeRequest) -> String { String(decoding: request.bytes, as: UTF8.self) }

    @Test func `The request has the fields of RFC 6455, and expects the accept value of its section 1.3`() throws {
        let request = try Self.request("ws://host:8080/path?query")
        #expect(request.expectedAccept == Self.accept)
        #expect(
            text(request) == """
                GET /path?query HTTP/1.1\r
                Host: host:8080\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r
                User-Agent: x/1\r
                \r

                """)
    }

    @Test func `The request carries the given fields, which override the address's credentials`() throws {
        let fields = [HTTPField(name: "X-Key", value: "k")]
        let request = try Self.request("ws://u:p@host/", fields: fields)
        #expect(text(request).hasSuffix("\r\nAuthorization: Basic dTpw\r\nX-Key: k\r\n\r\n"))
        let own = try Self.request("ws://u:p@host/", fields: [HTTPField(name: "authorization", value: "Bearer t")])
        #expect(text(own).hasSuffix("\r\nauthorization: Bearer t\r\n\r\n"))
        #expect(!text(own).contains("Basic"))
        let agent = try Self.request(fields: [HTTPField(name: "user-agent", value: "mine")])
        #expect(!text(agent).contains("User-Agent"))
    }

    @Test func `Subprotocols are offered in the given order`() throws {
        let request = try Self.request(subprotocols: ["aqi.v2", "aqi.v1"])
        #expect(text(request).contains("\r\nSec-WebSocket-Protocol: aqi.v2, aqi.v1\r\n"))
        #expect(!text(try Self.request()).contains("Sec-WebSocket-Protocol"))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var status = "HTTP/1.1 101 Switching Protocols"
        var fields = HandshakeTests.good
        var offered: [String] = []
        var outcome: Outcome
        var testDescription: String { name }
        /// The reason phrase, where the status is not 101.
        var phrase: String {
            let parts = status.split(separator: " ", maxSplits: 2)
            return parts.count == 3 && parts[1].count == 3 && parts[1] != "101" && Int(parts[1]) != nil
                ? String(parts[2]) : ""
        }

        enum Outcome: Sendable, Equatable {
            case accepted, compressed, compressedInContext, interim
            case rejected(String, Duration? = nil, words: String = "")
        }

        /// The good response with these fields replaced, or removed where there are no values.
        private static func changed(
            _ name: String, _ changes: [String: [String]], offered: [String] = [], _ outcome: Outcome
        ) -> Row {
            var fields = HandshakeTests.good.filter { changes[$0.name] == nil }
            for (name, values) in changes { fields += values.map { HTTPField(name: name, value: $0) } }
            return Row(name: name, fields: fields, offered: offered, outcome: outcome)
        }

        private static func extensions(_ text: String, _ outcome: Outcome) -> Row {
            changed(text, ["Sec-WebSocket-Extensions": [text]], outcome)
        }

        private static func extensions(_ text: String, rejected reason: String, words: String) -> Row {
            extensions(text, .rejected("status 101 with " + reason, words: words))
        }

        /// A response with a parameter, after others, that we cannot agree to.
        private static func disagreed(_ parameters: String, _ parameter: String) -> Row {
            extensions(
                "permessage-deflate; " + parameters,
                rejected: "an unacceptable permessage-deflate parameter", words: parameter)
        }

        private static let noUpgrade = Outcome.rejected("status 101 without Upgrade: websocket")
        private static let noConnection = Outcome.rejected("status 101 without Connection: Upgrade")
        private static let wrongAccept = Outcome.rejected("status 101 with a wrong Sec-WebSocket-Accept")

        private static func no101(_ status: String, _ retryAfter: Duration? = nil, remark: String = "") -> Outcome {
            .rejected("status \(status) instead of 101" + remark, retryAfter)
        }

        private static func notOffered(_ subprotocols: String) -> Outcome {
            .rejected("status 101 with a subprotocol that was not offered", words: subprotocols)
        }

        private static func notOffered(extensions text: String) -> Row {
            extensions(text, rejected: "extensions that were not offered", words: text)
        }

        private static func other(_ status: String, _ fields: [String] = [], _ outcome: Outcome) -> Row {
            Row(
                name: ([status] + fields).joined(separator: ", "), status: status,
                fields: fields.map { HTTPField(line: $0)! }, outcome: outcome)
        }

        static let all: [Row] = [
            Row(name: "good", outcome: .accepted),
            Row(name: "no reason phrase", status: "HTTP/1.1 101", outcome: .accepted),
            changed("other case", ["Upgrade": ["WebSocket"]], .accepted),
            changed("list", ["Connection": ["keep-alive, UPGRADE"]], .accepted),
            changed("list with empty members", ["Connection": [",", "keep-alive,, \t upgrade ,"]], .accepted),
            changed("length of an empty body", ["Content-Length": ["0"]], .accepted),
            changed("length of a body", ["Content-Length": ["10"]], .accepted),
            changed("coding of a body", ["Transfer-Encoding": ["chunked"]], .accepted),
            changed("no upgrade", ["Upgrade": []], noUpgrade), changed("h2c", ["Upgrade": ["h2c"]], noUpgrade),
            changed("no connection", ["Connection": []], noConnection),
            changed("connection: close", ["Connection": ["close"]], noConnection),
            changed("no accept", ["Sec-WebSocket-Accept": []], wrongAccept),
            changed("wrong accept", ["Sec-WebSocket-Accept": ["x"]], wrongAccept),
            changed(
                "two accepts", ["Sec-WebSocket-Accept": [HandshakeTests.accept, HandshakeTests.accept]], wrongAccept),
            changed("a subprotocol", ["Sec-WebSocket-Protocol": ["b"]], offered: ["a", "b"], .accepted),
            Row(name: "none of the offered subprotocols", offered: ["a"], outcome: .accepted),
            changed("a subprotocol when none was offered", ["Sec-WebSocket-Protocol": ["a"]], notOffered("a")),
            changed("subprotocol in another case", ["Sec-WebSocket-Protocol": ["A"]], offered: ["a"], notOffered("A")),
            changed(
                "two subprotocols", ["Sec-WebSocket-Protocol": ["a", "b"]], offered: ["a", "b"], notOffered("a, b")),
            extensions("permessage-deflate; server_no_context_takeover; client_no_context_takeover", .compressed),
            extensions("permessage-deflate;server_no_context_takeover", .compressed),
            extensions("permessage-deflate; server_max_window_bits=12; Server_No_Context_Takeover", .compressed),
            extensions("permessage-deflate\t;\tserver_no_context_takeover ", .compressed),
            extensions("permessage-deflate", .compressedInContext),
            extensions("permessage-deflate; server_max_window_bits=\"9\"", .compressedInContext),
            extensions("permessage-deflate; client_no_context_takeover", .compressedInContext),
            disagreed("server_no_context_takeover; client_max_window_bits=10", "client_max_window_bits=10"),
            disagreed("server_max_window_bits=16", "server_max_window_bits=16"),
            disagreed("server_max_window_bits=8; server_max_window_bits=9", "server_max_window_bits=9"),
            disagreed("server_no_context_takeover; server_no_context_takeover", "server_no_context_takeover"),
            disagreed("server_no_context_takeover=1", "server_no_context_takeover=1"),
            extensions("permessage-deflate;", rejected: "an unacceptable permessage-deflate parameter", words: ""),
            notOffered(extensions: "permessage-deflate, permessage-deflate"),
            notOffered(extensions: "permessage-deflate; server_no_context_takeover, x-other"),
            notOffered(extensions: "x-webkit-deflate-frame"),
            other("HTTP/1.1 100 Continue", [], .interim),
            other("HTTP/1.1 103 Early Hints", ["Link: </style.css>"], .interim),
            other("HTTP/1.1 200 OK", [], .rejected("status 200 instead of 101: not a WebSocket endpoint")),
            other(
                "HTTP/1.1 401 ", [],
                no101("401", remark: "; does it expect --feed.header with Authorization or Origin?")),
            other(
                "HTTP/1.1 403 Forbidden", [],
                no101("403", remark: "; does it expect --feed.header with Authorization or Origin?")),
            other(
                "HTTP/1.1 404 Not Found", [],
                no101(
                    "404",
                    remark: ": not a WebSocket endpoint, or it expects --feed.header with Origin or Authorization")),
            other("HTTP/1.1 302 There", [], no101("302")),
            other("HTTP/1.1 304 Same", [], no101("304")),
            other("HTTP/1.1 503 Busy", ["Retry-After: 120"], no101("503", .seconds(120))),
            other("HTTP/1.1 429 Slow", ["retry-after: Sun, 06 Nov 1994 08:49:37 GMT"], no101("429", .seconds(37))),
            other(
                "HTTP/1.1 307 There", ["Location: wss://u:p@host/x"],
                .rejected("status 307 instead of 101: the feed has another address", words: ": wss://***@host/x")),
            other(
                "HTTP/1.1 302 There", ["Location: ws://host/key-0123456789ab/live"],
                .rejected("status 302 instead of 101: the feed has another address", words: ": ws://host/…/live")),
            other("HTTP/1.1 99 X", [], .rejected("the response is not HTTP")),
            other("HTTP/1.1 1O1 X", [], .rejected("the response is not HTTP")),
            other("HTTP/1.1", [], .rejected("the response is not HTTP")),
        ]
    }

    private static let good = [
        HTTPField(name: "Upgrade", value: "websocket"), HTTPField(name: "Connection", value: "Upgrade"),
        HTTPField(name: "Sec-WebSocket-Accept", value: accept),
    ]

    @Test(arguments: Row.all) func `A response is accepted only if RFC 6455 and RFC 7692 allow it`(_ row: Row) throws {
        // Sun, 06 Nov 1994 08:49:00 GMT
        let fields = row.fields
        let response = HandshakeResponse(
            HTTPHead(startLine: row.status, fields: fields), to: try Self.request(subprotocols: row.offered),
            now: 784_111_740_000)
        let expected: HandshakeResponse =
            switch row.outcome {
            case .accepted: .accepted(nil, fields: fields)
            case .compressed: .accepted(.withoutContext, fields: fields)
            case .compressedInContext: .accepted(.withContext, fields: fields)
            case .interim: .interim
            case .rejected(let detail, let retryAfter, let words):
                .rejected(detail: detail, serverWords: row.phrase + words, retryAfter: retryAfter)
            }
        #expect(response == expected)
    }

    @Test(
        arguments: [
            (["Content-Length: 5"], "Hello, more", true, "Hello"), (["Content-Length: 5"], "Hel", false, "Hel"),
            ([], " Transport unknown\r\n", false, "Transport unknown"), (["Content-Type: image/png"], "x", nil, ""),
            (["Content-Type: application/problem+json"], "{}", false, "{}"), (["Content-Encoding: gzip"], "x", nil, ""),
            (["Content-Length: 0"], "", nil, ""), ([], "a\0b", false, ""), ([], "", false, ""),
            (["Transfer-Encoding: chunked"], "3\r\nNo \r\n6;x=y\r\nOrigin\r\n0\r\n\r\n", true, "No Origin"),
            (["Transfer-Encoding: chunked"], "3\r\nNo \r\nA\r\nOri", false, "No Ori"),
            (["Transfer-Encoding: chunked"], "x", false, ""),
            (["Transfer-Encoding: chunked"], "FFFFFFFFFFFFFFFFFF\r\n", false, ""),
            ([], String(repeating: "a", count: 2000), true, String(repeating: "a", count: 200)),
        ] as [([String], String, Bool?, String)])
    func `The text of a rejection is read up to its end, and 200 bytes of it are kept`(
        fields: [String], body: String, isComplete: Bool?, text: String
    ) {
        var read = RejectionBody(fields.map { HTTPField(line: $0)! })
        for byte in body.utf8 { read?.append([byte].span) }
        #expect(read?.isComplete == isComplete)
        #expect(read?.text ?? "" == text)
    }

    // MARK: The server's side

    private static let goodRequest = """
        GET / HTTP/1.1\r
        Host: h\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        \r

        """

    private static let accepted = ["HTTP/1.1 101 Switching Protocols", "X-More: yes"]
    private static let upgrade = ["HTTP/1.1 426 Upgrade Required", "expected a WebSocket upgrade, version 13"]
    private static let bad = ["HTTP/1.1 400 Bad Request", "not an HTTP/1.1 GET request"]
    private static let other = ["HTTP/1.1 400 Bad Request", "it does not begin with GET "]
    private static let badKey = ["HTTP/1.1 400 Bad Request", "Sec-WebSocket-Key is not 16 bytes in base64"]
    private static let field = ["HTTP/1.1 400 Bad Request", "a header line is not \"Name: value\""]

    /// A part of a good request, its change, and the first and the last line of the response.
    @Test(
        arguments: [
            ("", "", accepted), ("Upgrade: websocket", "upgrade:\tWebSocket ", accepted),
            ("Connection: Upgrade", "Connection: keep-alive\r\nConnection: x, upgrade", accepted),
            ("GET /", "GET /feed?x", accepted), ("GET /", "\r\nGET /", other), ("Upgrade: websocket\r\n", "", upgrade),
            ("Connection: Upgrade", "Connection: close", upgrade), ("Version: 13", "Version: 8", upgrade),
            ("Sec-WebSocket-Version: 13\r\n", "", upgrade),
            ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZ", badKey),
            ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j", badKey),
            ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "", badKey), ("GET ", "POST ", other),
            ("HTTP/1.1", "HTTP/1.0", bad), ("Host: h\r\n", "", bad), ("Host: h", "Host: h\r\nHost: g", bad),
            ("GET / HTTP/1.1", "hello", other), (goodRequest, "\u{16}\u{3}\u{1}", other),
            ("Host: h", "Host : h", field),
        ])
    func `A request is accepted or rejected with a reason`(part: String, change: String, expected: [String]) {
        let text = part.isEmpty ? Self.goodRequest : Self.goodRequest.replacing(part, with: change)
        var reader = HTTPHeadReader(beginning: "GET ")
        var position = 0
        let bytes: [UInt8]
        do throws(HandshakeRejection) {
            guard let head = try reader.read(Array(text.utf8).span, at: &position) else {
                Issue.record("no head")
                return
            }
            bytes = try acceptHandshake(head, fields: [HTTPField(name: "X-More", value: "yes")])
        } catch {
            bytes = error.response
        }
        let lines = String(decoding: bytes, as: UTF8.self).split { $0.isNewline }.map(String.init)
        #expect([lines.first, lines.last] == expected)
        #expect(lines.contains("Sec-WebSocket-Accept: \(Self.accept)") == (expected == Self.accepted))
    }
}
