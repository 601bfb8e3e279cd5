import TestSupport
import Testing

/// Clients that are wrong in every way get a correct 4xx or a closed connection, and others notice nothing.
@Suite struct HTTPGarbageTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        /// Statuses that are right; nil among them stands for the end of the connection without an answer.
        var right: [Int?]
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ right: Int?...) {
            self.init(name, Array(text.utf8), right)
        }

        init(_ name: String, _ bytes: [UInt8], _ right: [Int?]) {
            self.name = name
            self.bytes = bytes
            self.right = right
        }

        static let all: [Case] = requestLines + headers + contents + binary

        static let requestLines = [
            Case("no version", "GET /\r\n\r\n", 400, 505, nil),
            Case("one word", "GET\r\n\r\n", 400, nil),
            Case("HTTP/2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 400, 505, nil),
            Case("HTTP/0.9", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 400, 505, nil),
            Case("bad version", "GET / HTPT/1.1\r\nHost: x\r\n\r\n", 400, 505, nil),
            Case("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, 505, nil),
            Case("blank in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            Case("no slash", "GET metrics HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            Case("NUL escaped", "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            Case("bad escape", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            Case("not UTF-8", "GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            Case("absolute", "GET http://other/x HTTP/1.1\r\nHost: x\r\n\r\n", 200),
            Case("asterisk", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 200),
            Case("authority", "CONNECT host:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            Case("empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 200),
            Case("bare LF", "GET / HTTP/1.1\nHost: x\n\n", 200, 400, nil),
        ]

        static let headers = [
            Case("no Host", "GET / HTTP/1.1\r\n\r\n", 400),
            Case("no Host, HTTP/1.2", "GET / HTTP/1.2\r\n\r\n", 400),
            Case("two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n", 400),
            Case("two Hosts, HTTP/1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400),
            Case("field without colon", "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n", 400, nil),
            Case("folded field", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 200, 400, nil),
            Case("field name with blank", "GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", 200, 400, nil),
            Case("empty field name", "GET / HTTP/1.1\r\nHost: x\r\n: c\r\n\r\n", 200, 400, nil),
        ]

        static let contents = [
            Case("chunks", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 411),
            Case("bad chunk size", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 411),
            Case("no chunk size", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 411),
            Case("no chunk", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
            Case("bad length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400),
            Case("negative length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
            Case("length with sign", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na", 400),
            Case("no length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", 400),
            Case(
                "two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", 400),
            Case("two lengths in one", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na", 400),
            Case(
                "length and chunks",
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            Case("other transfer coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc", 411),
        ]

        static let binary = [
            Case(
                "TLS hello", [22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3] + [UInt8](repeating: 7, count: 190) + [10, 10],
                [400, nil]),
            Case("NULs", [UInt8](repeating: 0, count: 1000) + [13, 10, 13, 10], [400, nil]),
            Case(
                "NUL in a field", Array("GET / HTTP/1.1\r\nHost: x\r\nA: b".utf8) + [0] + Array("c\r\n\r\n".utf8),
                [200, 400, nil]),
            Case("high bytes", [UInt8](repeating: 0xFF, count: 30_000), [400, 414, 431, nil]),
            Case("only line ends", Array(String(repeating: "\r\n", count: 5000).utf8), [400, nil]),
        ]
    }

    @Test(arguments: Case.all) func isRefused(_ scenario: Case) throws {
        let server = try serve(respond: echo)
        let bystander = try server.connect()
        #expect(try bystander.request("/").status == 200)
        let client = try server.connect()
        client.send(scenario.bytes)
        // Whatever the server waits for, it does not come.
        client.endSending()
        let status = try? client.readAnswer().status
        #expect(scenario.right.contains(status), "\(status.map { "\($0)" } ?? "closed")")
        #expect(try bystander.request("/").status == 200)
    }

    /// Seeded noise around a valid request, many times over one server.
    @Test func mutatedRequests() throws {
        let server = try serve({ $0.limits.requestTimeout = .milliseconds(50) }, respond: echo)
        var random = SeededRandom(seed: 11)
        let seed = Array("POST /metrics?a=b HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nContent-Length: 3\r\n\r\nabc".utf8)
        for _ in 0..<400 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                }
            }
            let client = try server.connect()
            client.send(bytes)
            let status = try? client.readAnswer().status
            #expect(status == nil || status == 200 || (400...505).contains(status!))
        }
        // A busy machine may take longer for one request than this server gives it.
        eventually("an answer") { (try? server.connect().request("/"))?.status == 200 }
    }
}
