import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System
@testable import WebConfiguration

/// Failed handshakes of TLS are reported, each once.
@Suite struct HTTPTLSFailureTests {
    private let certificates: TestCertificates
    private let failures = Failures()

    final class Failures: Sendable {
        private let list = Mutex<[[String]]>([])
        func append(client: String, reason: String) { list.withLock { $0.append([client, reason]) } }
        /// The client and the reason of each.
        var all: [[String]] { list.withLock { $0 } }
    }

    init() throws { certificates = try TestCertificates.shared() }

    private func serveTLS(
        _ mode: TLSConfiguration.ClientAuthentication = .none, names: [String]? = nil
    ) throws -> HTTPServer {
        var tls = TLSConfiguration(
            certificate: try certificates.content("server.pem"), key: try certificates.content("server.key"),
            priority: TLSPriority().text(key: .rsa))
        tls.clientAuthentication = mode
        if mode == .verifyIfGiven || mode == .requireAndVerify {
            tls.clientCertificateAuthorities = try certificates.content("ca.pem")
        }
        tls.allowedSubjectAlternativeNames = names?.map { Array($0.utf8) }
        return try serve(
            {
                $0.web.tls = tls
                $0.onTLSHandshakeFailure = failures.append
            }, respond: echo)
    }

    /// What `openssl s_client` says.
    private func openssl(_ server: HTTPServer, _ options: [String]) throws -> String {
        try Subprocess(["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-ign_eof"] + options).errors
    }

    private func asClient(_ name: String?) -> [String] {
        name.map { ["-cert", certificates.path("\($0).pem"), "-key", certificates.path("\($0).key")] } ?? []
    }

    private func expectFailure(_ reason: String, of server: HTTPServer) {
        eventually("the failure") { failures.all.count == 1 }
        #expect(failures.all == [["127.0.0.1", reason]])
    }

    // MARK: - Before the server has answered

    @Test(arguments: [
        ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"],
        ["-tls1_3", "-groups", "X448"],
    ]) func `A client with nothing in common`(_ options: [String]) throws {
        let server = try serveTLS()
        _ = try openssl(server, options)
        expectFailure("handshake failed", of: server)
    }

    // MARK: - Clients' certificates

    struct ClientCase: Sendable, CustomTestStringConvertible {
        var client: String?
        var names: [String]?
        var reason: String
        var testDescription: String { client ?? "no certificate" }

        static let all: [ClientCase] = [
            ClientCase(client: nil, reason: "no client certificate"),
            ClientCase(client: "client-of-other", reason: "client certificate of an unknown authority"),
            ClientCase(client: "client-expired", reason: "client certificate expired or not yet valid"),
            ClientCase(client: "client-for-servers", reason: "client certificate not valid for this use"),
            ClientCase(
                client: "client", names: ["somebody else"], reason: "client certificate has none of the allowed names"),
        ]
    }

    @Test(arguments: ClientCase.all, [0, 1])
    func `A client whose certificate is rejected`(_ scenario: ClientCase, _ version: Int) throws {
        let server = try serveTLS(.requireAndVerify, names: scenario.names)
        _ = try openssl(server, [["-tls1_2"], ["-tls1_3"]][version] + asClient(scenario.client))
        expectFailure(scenario.reason, of: server)
    }

    @Test(arguments: ["1.2", "1.3"]) func `A client that rejects our certificate`(_ version: String) throws {
        let server = try serveTLS()
        let run = try Subprocess([
            "curl", "-sS", "--tlsv\(version)", "--tls-max", version, "https://127.0.0.1:\(server.port)/",
        ])
        #expect(run.status == 60, "\(run.errors)")
        eventually("the failure") { failures.all.count == 1 }
    }

    // MARK: - No TLS

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD /metrics HTTP/1.0\r\n\r\n", "POST / HTTP/1.1\r\n",
        "GET /" + String(repeating: "a", count: 100_000),
    ]) func `HTTP on the TLS port is answered in plain text`(_ request: String) throws {
        let server = try serveTLS()
        let client = try server.connect()
        client.send(request)
        let answer = try client.readAnswer()
        #expect(answer.status == 400)
        #expect(answer.text == "Client sent an HTTP request to an HTTPS server.\n")
        #expect(answer.value("Content-Type") == "text/plain; charset=utf-8")
        #expect(answer.value("Connection") == "close")
        #expect((try? client.readToEnd())?.isEmpty ?? true)
        expectFailure("HTTP request on the TLS port", of: server)
    }

    @Test func `Junk is no TLS`() throws {
        let server = try serveTLS()
        let client = try server.connect()
        client.send([UInt8](repeating: 7, count: 300))
        let answer = try client.readToEnd()
        #expect(answer.isEmpty || answer.first == 21)
        expectFailure("handshake failed", of: server)
    }

    // MARK: - Ends

    /// The beginning of a first message that is longer.
    private static let beginning: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]

    @Test func `A client that leaves`() throws {
        let server = try serveTLS()
        let client = try server.connect()
        client.send(Self.beginning)
        client.endSending()
        _ = try client.readToEnd()
        expectFailure("connection ended by the client", of: server)
    }

    @Test func `A client that stops`() throws {
        let server = try serveTLS()
        let client = try server.connect()
        client.send(Self.beginning)
        eventually("its end") {
            server.sweep(after: .seconds(11))
            return !failures.all.isEmpty
        }
        #expect((try? client.readToEnd())?.isEmpty ?? true)
    }

    @Test func `A client that comes in, or only looks whether the port is open, is no failure`() throws {
        let server = try serveTLS(.verifyIfGiven)
        for version in ["-tls1_2", "-tls1_3"] {
            // Leaves after the handshake, without a request.
            #expect(
                try Subprocess(["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", version]).status == 0)
        }
        for _ in 0..<10 { try server.connect().close() }
        let run = try Subprocess([
            "curl", "-sS", "--cacert", certificates.path("ca.pem"), "https://localhost:\(server.port)/x",
        ])
        #expect(run.text == "GET|/x|", "\(run.errors)")
        // The one failure is the last.
        let client = try server.connect()
        client.send("GET / HTTP/1.1\r\n\r\n")
        _ = try client.readAnswer()
        expectFailure("HTTP request on the TLS port", of: server)
    }

    @Test func `Failures among many handshakes are counted`() throws {
        let server = try serveTLS()
        let address = "https://localhost:\(try server.port)/"
        for _ in 0..<3 { #expect(try server.plainAnswer() == 400) }
        let run = try Subprocess(
            ["curl", "-sS", "-H", "Connection: close", "--cacert", certificates.path("ca.pem"), "-w", "%{http_code} "]
                + (0..<20).flatMap { _ in [address, "-o", "/dev/null"] })
        #expect(run.text == String(repeating: "200 ", count: 20), "\(run.errors)")
        eventually("three failures") { failures.all.count == 3 }
    }
}

extension HTTPServer {
    fileprivate func plainAnswer() throws -> Int {
        let client = try connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return try client.readAnswer().status
    }
}
