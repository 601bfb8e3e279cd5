import Bytes
import Foundation
import Testing

@testable import HTTPServer

/// Requests that other servers and proxies could read differently get a 400 of one line, and the connection ends: any
/// requests after them are not answered.
@Suite struct HTTPHeaderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        /// A strict libmicrohttpd may close the connection over it without a response.
        var isOfRequestLine = false
        var testDescription: String { name }

        /// - Parameter field: the bytes of a line of the header, without its end.
        init(field: [UInt8], _ name: String? = nil, host: String = "Host: x\r\n") {
            self.name = name ?? "field " + escaped(field)
            bytes = Array("GET / HTTP/1.1\r\n\(host)".utf8) + field + Array("\r\nA: b\r\n\r\n".utf8)
        }

        init(target: [UInt8]) {
            name = "target " + escaped(target)
            bytes = Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
            isOfRequestLine = true
        }

        init(line: [UInt8]) {
            name = "request line " + escaped(line)
            bytes = line + Array("\r\nHost: x\r\n\r\n".utf8)
            isOfRequestLine = true
        }

        static let all =
            (names + values + lines).map { Case(field: $0) } + requestLines.map { Case(line: $0) }
            + targets.map { Case(target: $0) } + hosts.map { Case(field: $0, host: "") }

        private static let names =
            [
                "Content-Length : 39", "Content-Length\t: 39", " A: b", "\tA: b", ": b", ":", " : b", "A b: c",
                "Transfer-Encoding : chunked", "A\u{E9}: b", "H\u{F6}st: x",
            ].map(bytes)
            + (Array("\"(),/;<=>?@[\\]{}".utf8) + [0x01, 0x0B, 0x0C, 0x0D, 0x1B, 0x7F, 0x80, 0xFF])
            .map { bytes("A", $0, ": b") }

        /// All but the line feed.
        private static let controls: [UInt8] = Array(0x00...0x09) + Array(0x0B...0x1F) + [0x7F]

        private static let values =
            controls.filter { $0 != 0x09 }.flatMap { [bytes("A: b", $0, "c"), bytes("A: b", $0), bytes("A: ", $0)] }
            + ["A: b\0\0c", "A: b\0\0C: d", "A: b\0Content-Length: 5"].map(bytes)

        /// To C, a line that begins with a NUL ends the header; one that begins with a blank continues the line before
        /// it (RFC 9112, section 5.2).
        private static let lines = [
            "\0", "\0A: b", "\0\0", "\0\0\0\0", "A: b\r\n c", "A: b\r\n\tc", "A: b\r\n   ", "A: b\r\n c: d",
        ].map(bytes)

        private static let requestLines = [
            "G\0T / HTTP/1.1", "G\u{1}T / HTTP/1.1", "G,T / HTTP/1.1", "GET  / HTTP/1.1", "GET /  HTTP/1.1",
            "GET\t/ HTTP/1.1", "GET / HTTP/1.1 ", "GET /a b HTTP/1.1",
        ].map(bytes)

        private static let targets =
            controls.flatMap { [bytes("/a", $0, "b"), bytes("/a?b", $0), bytes("/", $0)] }
            + ["/a\0HTTP/1.1", "/a\0HTTP/1.1\0", "/a HTTP/1.1\0"].map(bytes)

        private static let hosts = [
            "a, b", "a,b", "a b", "a/b", "a?b", "a#b", "user@a", "a\\b", "<a>", "h\u{F6}st", "\"a\"",
        ].map { bytes("Host: \($0)") }

        private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

        private static func bytes(_ before: String, _ byte: UInt8, _ after: String = "") -> [UInt8] {
            bytes(before) + [byte] + bytes(after)
        }
    }

    private let good = Array("GET /good HTTP/1.1\r\nHost: x\r\n\r\n".utf8)

    /// A request that a rejected one may hide. If it is answered, it ends the connection as well.
    private let hidden = Array("GET /hidden HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)

    @Test(arguments: Case.all) func `Ambiguous requests are rejected and end the connection`(_ scenario: Case) throws {
        let server = try Self.plain.get()
        for before in [[], good] {
            let whole = before + scenario.bytes + hidden
            try expectRejected(scenario, before, server.exchange(whole))
            // In two parts: most of it arrives after the request line has been read.
            let end = before.count + (scenario.bytes.firstIndex(of: 0x0A) ?? 0) + 3
            try expectRejected(scenario, before, server.exchange(Array(whole[..<end]), Array(whole[end...])))
        }
    }

    private func expectRejected(_ scenario: Case, _ before: [UInt8], _ received: [UInt8]) throws {
        let name = scenario.name
        var text = String(decoding: received, as: UTF8.self)[...]
        if !before.isEmpty {
            let first = "GET|/good|"
            let end = try #require(text.range(of: first), "\(name): \(text)")
            #expect(text.hasPrefix("HTTP/1.1 200 "), "\(name)")
            text = text[end.upperBound...]
        }
        if text.isEmpty, LibMicroHTTPD.strictness > 0, scenario.isOfRequestLine { return }
        #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(name): \(text)")
        #expect(!text.contains("HTTP/1.1 200"), "\(name): \(text)")
        // One response of one line, and then the end.
        let parts = text.components(separatedBy: "\r\n\r\n")
        #expect(parts.count == 2 && parts[0].contains("Connection: close"), "\(name): \(text)")
        #expect(parts.last?.dropLast().contains("\n") == false, "\(name): \(text)")
    }

    /// Fields that look odd but are valid.
    @Test(arguments: [
        "A:b", "A:", "A: \t ", "A:\tb\tc ", "!#$%&'*+-.^_`|~09azAZ: b", "A: \u{E9}\u{80}", "A: \"b, c\" (d) [e]",
    ]) func `An odd but valid field is accepted`(_ field: String) throws { try expectGood("Host: x\r\n\(field)") }

    @Test(arguments: [
        "", " ", "x", "X.example", "a-b_c~d", "1.2.3.4:80", "[::1]", "[::1]:10025", "[2001:db8::1.2.3.4]", "x:", "%41",
        "a!$&'()*+;=", "  x  ",
    ]) func `A valid Host is accepted`(_ host: String) throws { try expectGood("Host:\(host)") }

    private func expectGood(_ fields: String) throws {
        let server = try Self.plain.get()
        let request = "GET /good HTTP/1.1\r\n\(fields)\r\nConnection: close\r\n\r\n"
        let response = String(decoding: try server.exchange(Array(request.utf8)), as: UTF8.self)
        #expect(response.hasSuffix("GET|/good|"), "\(response)")
    }

    private static let plain = Result { try serve(respond: echo) }
}

private func escaped(_ bytes: [UInt8]) -> String { quoted(String(decoding: bytes, as: UTF8.self)) }

extension HTTPServer {
    /// Sends the bytes in these parts and returns everything received. The first may already end the connection.
    fileprivate func exchange(_ parts: [UInt8]...) throws -> [UInt8] {
        let client = try connect()
        for (index, part) in parts.enumerated() {
            if index > 0 { usleep(1000) }
            client.send(part)
        }
        return try client.readToEnd()
    }
}
