import Foundation
import Glibc
import TestSupport
import Testing

@testable import HTTPServer
@testable import System
@testable import WebConfiguration

@Suite struct HTTPTLSTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared() }

    private func tls(_ name: String = "server", _ change: (inout TLSConfiguration) -> Void = { _ in }) throws
        -> WebConfiguration
    {
        var web = try read(name)
        change(&web.tls!)
        return web
    }

    /// The web configuration of a file with that certificate and further lines.
    private func read(_ name: String, _ lines: String...) throws -> WebConfiguration {
        let text = (["tls_server_config:", "  cert_file: \(name).pem", "  key_file: \(name).key"] + lines)
            .map { $0 + "\n" }.joined()
        return try WebConfiguration(text: Array(text.utf8), path: certificates.path("web.yml")) {
            (path) throws(SystemError) in try readFile(path, limit: 1 << 20)
        }
    }

    private func serveTLS(
        _ web: WebConfiguration, respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse = echo
    ) throws -> HTTPServer {
        try serve({ $0.web = web }, respond: respond)
    }

    private func curl(_ server: HTTPServer, path: String = "/", _ options: String...) throws -> Subprocess {
        try Subprocess(
            ["curl", "-sS", "-m", "30", "--cacert", certificates.path("ca.pem")] + options
                + ["https://localhost:\(server.port)\(path)"])
    }

    private func asClient(_ name: String?) -> [String] {
        name.map { ["--cert", certificates.path("\($0).pem"), "--key", certificates.path("\($0).key")] } ?? []
    }

    private func connects(_ server: HTTPServer, as client: String? = nil) throws -> Bool {
        let run = try Subprocess(
            ["curl", "-sS", "-m", "30", "--cacert", certificates.path("ca.pem")] + asClient(client)
                + ["https://localhost:\(server.port)/x"])
        #expect((run.status == 0) == (run.text == "GET|/x|"))
        return run.status == 0
    }

    @Test func `HTTP 2 is not offered`() throws {
        let server = try serveTLS(tls())
        #expect(try curl(server, "--http2", "-o", "/dev/null", "-w", "%{http_version}").text == "1.1")
    }

    @Test func `One connection has many responses`() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try serveTLS(tls()) { _ in HTTPResponse(status: 200, body: .bytes(bytes)) }
        let address = "https://localhost:\(try server.port)/"
        let run = try Subprocess(
            ["curl", "-sS", "-w", "%{stderr}%{num_connects} ", "--cacert", certificates.path("ca.pem")]
                + Array(repeating: address, count: 4))
        #expect(run.output == Array(repeatElement(bytes, count: 4).joined()))
        #expect(run.errors == "1 0 0 0 ")
        #expect(try curl(server, "-I").text.contains("Content-Length: \(bytes.count)\r\n"))
    }

    // MARK: - Clients' certificates

    struct ClientCase: Sendable, CustomTestStringConvertible {
        var mode: TLSConfiguration.ClientAuthentication
        var client: String?
        var names: [String]?
        var mayComeIn: Bool
        var testDescription: String {
            "\(mode.rawValue), \(client ?? "no certificate")\(names.map { ", only \($0)" } ?? "")"
        }

        init(
            _ mode: TLSConfiguration.ClientAuthentication, _ client: String?, _ mayComeIn: Bool, names: [String]? = nil
        ) {
            self.mode = mode
            self.client = client
            self.names = names
            self.mayComeIn = mayComeIn
        }

        /// Beside those of test_tls.py.
        static let all: [ClientCase] = usages + names

        static let usages: [ClientCase] = [
            .init(.requireAndVerify, "client-for-clients", true), .init(.requireAndVerify, "client-for-servers", false),
            .init(.request, "client-encipherment", true), .init(.requireAny, "client-encipherment", true),
            .init(.requireAny, "client-rsa-encipherment", true), .init(.verifyIfGiven, "client-encipherment", true),
            .init(.requireAndVerify, "client-encipherment", true),
            .init(.requireAndVerify, "client-rsa-encipherment", true),
        ]

        static let names: [ClientCase] = [
            .init(.requireAndVerify, "client", true, names: ["prometheus.example.org"]),
            .init(.requireAndVerify, "client", true, names: ["other", "ops@example.org"]),
            .init(.requireAndVerify, "client", true, names: ["192.0.2.7"]),
            .init(.requireAndVerify, "client", true, names: ["2001:db8::1"]),
            .init(.requireAndVerify, "client", true, names: ["spiffe://example.org/a"]),
            .init(.requireAndVerify, "client", false, names: ["Prometheus.example.org"]),
            .init(.requireAndVerify, "client", false, names: ["example.org", "*.example.org"]),
            .init(.requireAndVerify, "client", false, names: []),
            .init(.requireAndVerify, "client-without-names", false, names: ["client-without-names"]),
            .init(.requireAndVerify, "client-of-other", false, names: ["prometheus.example.org"]),
            .init(.requireAny, "client-of-other", true, names: ["prometheus.example.org"]),
            .init(.verifyIfGiven, nil, false, names: ["prometheus.example.org"]),
            .init(.request, nil, false, names: ["prometheus.example.org"]),
        ]
    }

    @Test(arguments: ClientCase.all) func `A client may come in or not`(_ scenario: ClientCase) throws {
        let authorities = try certificates.content("ca.pem")
        let server = try serveTLS(
            tls {
                $0.clientAuthentication = scenario.mode
                if scenario.mode == .verifyIfGiven || scenario.mode == .requireAndVerify {
                    $0.clientCertificateAuthorities = authorities
                }
                $0.allowedSubjectAlternativeNames = scenario.names?.map { Array($0.utf8) }
            })
        #expect(try connects(server, as: scenario.client) == scenario.mayComeIn)
        // Both versions ask at another time.
        let old = try Subprocess(
            ["curl", "-sS", "-m", "30", "--tls-max", "1.2", "--cacert", certificates.path("ca.pem")]
                + asClient(scenario.client) + ["https://localhost:\(server.port)/x"])
        #expect((old.text == "GET|/x|") == scenario.mayComeIn)
    }

    @Test func `Without authorities no certificate verifies`() throws {
        let server = try serveTLS(tls { $0.clientAuthentication = .verifyIfGiven })
        #expect(try connects(server))
        #expect(try !connects(server, as: "client"))
    }

    // MARK: - Versions and ciphers

    @Test(arguments: [("server", "RSA"), ("server-ec", "ECDSA")])
    func `Nothing is signed with SHA-1, even for clients that offer nothing else`(_ name: String, _ algorithm: String)
        throws
    {
        let server = try serveTLS(tls(name))
        for (hash, isSigned) in [("SHA256", true), ("SHA1", false)] {
            let run = try Subprocess([
                "openssl", "s_client", "-connect", "localhost:\(server.port)", "-tls1_2", "-cipher", "ALL:@SECLEVEL=0",
                "-sigalgs", "\(algorithm)+\(hash)",
            ])
            #expect((run.status == 0) == isSigned, "\(hash)")
        }
    }

    // MARK: - Reload

    @Test func `A new certificate reaches new connections and keeps old ones`() throws {
        let server = try serveTLS(tls("server"))
        let old = try TLSClient(port: server.port)
        #expect(try old.request("/1").hasSuffix("GET|/1|"))
        #expect(try subject(server) == "CN=server")
        try server.reload(tls("server-ec"))
        #expect(try subject(server) == "CN=server-ec")
        #expect(try old.request("/2").hasSuffix("GET|/2|"))
        try server.reload(tls("server-ec") { $0.clientAuthentication = .requireAny })
        #expect(try !connects(server))
        #expect(try connects(server, as: "client"))
        #expect(try old.request("/3").hasSuffix("GET|/3|"))
    }

    @Test func `A bad reload changes nothing`() throws {
        let server = try serveTLS(tls())
        #expect(throws: SystemError(.configuration, "turning TLS on or off needs a restart")) {
            try server.reload(WebConfiguration())
        }
        #expect(throws: SystemError.self) { try server.reload(tls { $0.key = [] }) }
        #expect(throws: SystemError.self) { try server.reload(tls { $0.priority = "NONSENSE" }) }
        #expect(try connects(server))
        let plain = try serve(respond: echo)
        #expect(throws: SystemError(.configuration, "turning TLS on or off needs a restart")) {
            try plain.reload(tls())
        }
        #expect(try plain.connect().request("/").status == 200)
    }

    @Test func `Reloads go on while clients connect`() throws {
        let server = try serveTLS(tls("server-ec"))
        let address = "https://localhost:\(try server.port)/"
        let webs = [try tls("server-ec"), try tls("server"), try tls("server-ed25519")]
        let reloading = try ServiceThread(name: "reload") {
            for index in 0..<200 { try? server.reload(webs[index % 3]) }
        }
        // A new connection for each transfer.
        let run = try Subprocess(
            ["curl", "-sS", "-H", "Connection: close", "--cacert", certificates.path("ca.pem"), "-w", "%{http_code} "]
                + (0..<50).flatMap { _ in [address, "-o", "/dev/null"] })
        reloading.join()
        #expect(run.text == String(repeating: "200 ", count: 50), "\(run.errors)")
    }

    private func subject(_ server: HTTPServer) throws -> String? {
        let run = try Subprocess(["openssl", "s_client", "-connect", "localhost:\(server.port)"])
        let line = run.text.split(separator: "\n").first { $0.hasPrefix("subject=") }
        // Later versions of OpenSSL write no blanks around the sign.
        return line.map { $0.dropFirst(8).filter { $0 != " " } }
    }

    // MARK: - Broken clients

    @Test func `A stop ends TLS connections`() throws {
        let server = try serveTLS(tls())
        let client = try TLSClient(port: server.port)
        #expect(try client.request("/1").hasSuffix("GET|/1|"))
        server.stop(within: .seconds(5))
        #expect(client.readToEnd().isEmpty)
    }
}

/// One connection of `openssl s_client`.
private final class TLSClient {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(port: Int) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl", "s_client", "-quiet", "-connect", "localhost:\(port)"]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        // The test's threads have most signals blocked, and a child inherits that.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// An answer as text; its content must end with the `|` of `echo`.
    func request(_ path: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        var answer = Data()
        while answer.last != UInt8(ascii: "|") || answer.filter({ $0 == UInt8(ascii: "|") }).count < 2 {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            answer += more
        }
        return String(decoding: answer, as: UTF8.self)
    }

    func readToEnd() -> Data { output.fileHandleForReading.readDataToEndOfFile() }
}
