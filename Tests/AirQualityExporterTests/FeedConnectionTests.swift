import Bytes
import CommandLine
import FeedOptions
import HTTPText
import TestSupport
import Testing

@testable import AirQualityExporter
@testable import WebSocket

struct FeedConnectionTests {
    private let directory = TemporaryDirectory()

    private func configured(_ arguments: [String]) throws -> FeedClientOptions {
        let given = ["--feed.url=ws://x/"] + arguments
        guard case .run(let flags) = try Program.exporter.parse(arguments: given) else { throw FlagError("no run") }
        return try Configuration(flags).feed.client
    }

    private func line(_ arguments: String...) -> String {
        let error = #expect(throws: FlagError.self) { try configured(arguments) }
        return error?.line ?? ""
    }

    /// The form that a file of header fields with this content should have had.
    private func expected(ofFile content: String) -> String {
        let file = directory.write("headers", content)
        return line("--feed.header-file=\(file)").replacing("--feed.header-file \"\(file)\": expected ", with: "")
    }

    @Test func `Header fields come from flags and a file, without comments and blank lines`() throws {
        let file = directory.write("headers", "# secrets\n\nAuthorization: Bearer x\r\n  \nX-Key: 1")
        let connection = try configured(["--feed.header=X-Flag: 0", "--feed.header-file=\(file)"])
        #expect(
            try connection.headerFields() == [
                HTTPField(name: "X-Flag", value: "0"), HTTPField(name: "Authorization", value: "Bearer x"),
                HTTPField(name: "X-Key", value: "1"),
            ])
        directory.write("headers", "X-Key: 2")
        #expect(try connection.headerFields().last == HTTPField(name: "X-Key", value: "2"), "read at each connect")
        directory.write("headers", Array("X-Key: p".utf8) + [0xFC])
        #expect(throws: FeedOptionError.self, "not UTF-8") { try connection.headerFields() }
        directory.write("headers", "\u{FEFF}X-Key: a\u{2028}b\r\n")
        #expect(try connection.headerFields().last?.value == "a\u{2028}b")
        directory.write("headers", "secret")
        let error = #expect(throws: FeedOptionError.self) { try connection.headerFields() }
        #expect(error?.expected == "\"Name: value\" on one line, in line 1")
    }

    @Test func `Fields that the handshake sets itself are rejected in flags and in files`() {
        for name in ["Host", "upgrade", "Sec-WebSocket-Key", "Content-Length", "Connection"] {
            #expect(
                line("--feed.header=\(name): secret")
                    == "--feed.header ***: expected a header other than \(name), which the handshake sets itself")
            #expect(
                expected(ofFile: "A: b\n\(name): secret\n")
                    == "a header other than \(name), which the handshake sets itself, in line 2")
        }
        #expect(
            line("--feed.header=Sec-WebSocket-Protocol: aqi") == "--feed.header ***: expected the "
                + "subprotocol flag instead of the header Sec-WebSocket-Protocol")
    }

    @Test(arguments: ["A: b;C: d", "A: b;C:d", "A: b,C:d", "A: b|C: d", "A: b, c: d"])
    func `Several fields in one flag or on one line of a file are rejected`(text: String) {
        let oneField = "one header field, each in a flag or line of its own"
        #expect(line("--feed.header=\(text)") == "--feed.header ***: expected \(oneField)")
        #expect(expected(ofFile: "# fields\n\(text)\n") == "\(oneField), in line 2")
        #expect(expected(ofFile: "'A: b'") == "\"Name: value\" without quotation marks, in line 1")
    }

    @Test(arguments: [
        "User-Agent: Mozilla/5.0 (X11; rv:109.0)", "User-Agent: aq/1.0 (Pune; Contact: a@b.example)",
        "Cookie: a=b; c=d:e", "Accept: a/b;q=0.5,c/d",
        "Authorization: Digest username=\"x\", uri=\"http://h:80/\"", "Date: Sun, 06 Nov 1994 08:49:37 GMT", "A: b|c",
    ])
    func `A value may have characters that could join fields`(text: String) throws {
        let file = directory.write("headers", text)
        let fields = try configured(["--feed.header=\(text)", "--feed.header-file=\(file)"]).headerFields()
        #expect(fields.count == 2 && fields[0] == fields[1])
    }

    @Test func `A header file that cannot be read is rejected`() {
        #expect(
            line("--feed.header-file=/nowhere") == "--feed.header-file \"/nowhere\": expected a file that can be read: "
                + "cannot read /nowhere: No such file or directory")
    }

    @Test func `Subprotocols must be tokens, and each is given once`() throws {
        let given = ["--feed.subprotocol=aqi.v2", "--feed.subprotocol=aqi.v1"]
        #expect(try configured(given).connection.subprotocols == ["aqi.v2", "aqi.v1"])
        let expected = "a name of letters, digits and !#$%&'*+-.^_`|~"
        for bad in ["a b", "", "a,b", "é"] {
            #expect(line("--feed.subprotocol=\(bad)") == "--feed.subprotocol \"\(bad)\": expected \(expected)")
        }
        #expect(
            line("--feed.subprotocol=a", "--feed.subprotocol=a")
                == "--feed.subprotocol \"a\": expected each subprotocol once")
    }

    @Test func `Unusable TLS files are rejected at the start and at a reload`() throws {
        let certificates = try TestCertificates.shared()
        let path = certificates.path
        let good = [
            "--feed.ca-file=\(path("ca.pem"))", "--feed.cert-file=\(path("client.pem"))",
            "--feed.key-file=\(path("client.key"))",
        ]
        #expect(throws: Never.self) { try configured(good) }
        let garbage = directory.write("garbage.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        let locked = try certificates.encryptedKey(of: "client", in: directory)
        let cases: [(changed: (Int, String), expected: String)] = [
            ((0, path("ca.key")), "certificates of authorities in PEM: cannot use the authorities in"),
            ((0, garbage), "certificates of authorities in PEM: cannot use the authorities in"),
            ((0, "/nowhere"), "certificates of authorities in PEM: cannot read /nowhere: No such file"),
            ((0, directory.write("empty", "")), "certificates of authorities in PEM: cannot use the authorities in"),
            ((1, path("client.key")), "a certificate in PEM: cannot use the certificate in"),
            ((1, garbage), "a certificate in PEM: cannot use the certificate in"),
            ((2, path("server.key")), "the certificate's key in PEM, without a pass phrase: cannot use the key in"),
            ((2, path("client.pem")), "the certificate's key in PEM, without a pass phrase: cannot use the key in"),
            ((2, locked), "the certificate's key in PEM, without a pass phrase: cannot use the key in"),
        ]
        for (changed, expected) in cases {
            var arguments = good
            let flag = String(arguments[changed.0].prefix { $0 != "=" })
            arguments[changed.0] = "\(flag)=\(changed.1)"
            let error = #expect(throws: FlagError.self) { try configured(arguments) }
            #expect(
                error?.line.hasPrefix("\(flag) \"\(changed.1)\": expected \(expected)") == true, "\(error?.line ?? "")")
        }

        // A valid file that becomes invalid.
        let file = directory.write("ca.pem", try certificates.content("ca.pem"))
        let connection = try configured(["--feed.ca-file=\(file)"])
        #expect(throws: Never.self) { try connection.checkFiles() }
        directory.write("ca.pem", "")
        let error = #expect(throws: FeedOptionError.self) { try connection.checkFiles() }
        #expect(
            error?.description.hasPrefix(
                "--feed.ca-file \"\(file)\": expected certificates of authorities in PEM") == true)
    }

    @Test func `The health check reads no file of a feed`() throws {
        let arguments = ["healthcheck", "--feed.ca-file=/nowhere", "--feed.header-file=/nowhere"]
        guard case .run(let flags) = try Program.exporter.parse(arguments: arguments) else { throw FlagError("no run") }
        #expect(throws: Never.self) { try flags.options(HealthcheckOptions.self) }
    }
}
