import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System
@testable import WebConfiguration

/// Clients whose TLS handshake fails get an alert, and are counted.
@Suite struct HTTPTLSFailureTests {
    private let certificates: TestCertificates
    private let failures = Failures()

    final class Failures: Sendable {
        private let list = Mutex<[TLSHandshakeFailure]>([])
        func append(_ failure: TLSHandshakeFailure) { list.withLock { $0.append(failure) } }
        var all: [TLSHandshakeFailure] { list.withLock { $0 } }
    }

    init() throws { certificates = try TestCertificates.shared() }

    private func serveTLS(
        _ mode: TLSConfiguration.ClientAuthentication = .none, names: [String]? = nil,
        _ change: (inout HTTPServerConfiguration) -> Void = { _ in }
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
                change(&$0)
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
        #expect(failures.all == [TLSHandshakeFailure(peer: "127.0.0.1", reason: reason)])
        #expect(server.statistics.tlsHandshakeFailures == 1)
    }

    // MARK: - Before the server has answered

    @Test(arguments: [
        ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"],
        ["-tls1_3", "-groups", "X448"],
    ]) func nothingInCommon(_ options: [String]) throws {
        let server = try serveTLS()
        let output = try openssl(server, options)
        #expect(output.contains("SSL alert number 40"), "\(output)")
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

    @Test(arguments: ClientCase.all, [0, 1]) func certificatesOfClients(_ scenario: ClientCase, _ version: Int) throws {
        let server = try serveTLS(.requireAndVerify, names: scenario.names)
        let output = try openssl(server, [["-tls1_2"], ["-tls1_3"]][version] + asClient(scenario.client))
        #expect(output.contains("SSL alert number 42"), "\(output)")
        expectFailure(scenario.reason, of: server)
    }

    @Test(arguments: ["1.2", "1.3"]) func theClientRefusesOurs(_ version: String) throws {
        let server = try serveTLS()
        let run = try Subprocess([
            "curl", "-sS", "--tlsv\(version)", "--tls-max", version, "https://127.0.0.1:\(server.port)/",
        ])
        #expect(run.status == 60, "\(run.errors)")
        // OpenSSL's clients send one that is not encrypted where GnuTLS expects one that is, in TLS 1.3.
        expectFailure(version == "1.2" ? "alert from the client: CA is unknown" : "handshake failed", of: server)
    }

    // MARK: - No TLS

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD /metrics HTTP/1.0\r\n\r\n", "POST / HTTP/1.1\r\n",
        "GET /" + String(repeating: "a", count: 100_000),
    ]) func plainHTTPIsAnsweredInPlainText(_ request: String) throws {
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

    @Test func junkIsNoTLS() throws {
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

    @Test func aClientThatLeaves() throws {
        let server = try serveTLS()
        let client = try server.connect()
        client.send(Self.beginning)
        client.endSending()
        _ = try client.readToEnd()
        expectFailure("connection ended by the client", of: server)
    }

    /// GnuTLS keeps our data under the number of an extension, which a client may send all the same.
    @Test(arguments: [[], [0xFF, 0x5A, 0, 0], [0xFF, 0x5A, 0, 2, 1, 2, 0xFF, 0x5A, 0, 0]] as [[UInt8]])
    func theNumberOfOurDataAsAnExtension(_ extensions: [UInt8]) throws {
        let server = try serveTLS()
        let client = try server.connect()
        client.send(Self.clientHello(extensions))
        client.endSending()
        // A handshake message, no alert.
        #expect(try client.readToEnd().first == 22)
        expectFailure("connection ended by the client", of: server)
    }

    /// For TLS 1.2 and ECDHE-RSA-AES128-GCM-SHA256.
    private static func clientHello(_ more: [UInt8]) -> [UInt8] {
        func sized(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
        let groups: [UInt8] = [0, 10, 0, 4, 0, 2, 0, 23]
        let signatures: [UInt8] = [0, 13, 0, 4, 0, 2, 4, 1]
        var hello: [UInt8] = [3, 3] + [UInt8](repeating: 7, count: 32)
        hello += [0, 0, 2, 0xC0, 0x2F, 1, 0]
        hello += sized(groups + signatures + more)
        return [22, 3, 1] + sized([1, 0] + sized(hello))
    }

    /// Of TLS 1.2: the client's half of the key exchange, for which any point of the curve will do.
    private static let keyExchange: [UInt8] =
        [22, 3, 3, 0, 70, 16, 0, 0, 66, 65, 4]
        + hexadecimal(
            "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296"
                + "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5")

    /// What the server computes after its own messages counts like what it computes for them.
    @Test func everyMessageOfAHandshakeIsCharged() throws {
        let server = try serveTLS { $0.limits.heartbeatInterval = .milliseconds(10) }
        let client = try server.connect()
        var before: Int64 = 0
        for message in [Self.clientHello([]), Self.keyExchange] {
            client.send(message)
            eventually("a debt") { server.debtEnd > before }
            // The thread has gone on to its next turn when it has noticed two beats.
            let beats = server.heartbeats
            eventually("the end of the turn") { server.heartbeats >= beats + 2 }
            before = server.debtEnd
        }
        // The key exchange was no error.
        client.endSending()
        _ = try client.readToEnd()
        expectFailure("connection ended by the client", of: server)
    }

    @Test func aClientThatStops() throws {
        let server = try serveTLS { $0.limits.requestTimeout = .milliseconds(200) }
        let client = try server.connect()
        client.send(Self.beginning)
        _ = try client.readToEnd()
        expectFailure("timed out", of: server)
    }

    /// Whoever only looks whether the port is open, and whoever comes in, is no failure.
    @Test func whatIsNoFailure() throws {
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

    @Test func aFailureAmongMany() throws {
        let server = try serveTLS()
        let address = "https://localhost:\(try server.port)/"
        for _ in 0..<3 { #expect(try server.plainAnswer() == 400) }
        let run = try Subprocess(
            ["curl", "-sS", "-H", "Connection: close", "--cacert", certificates.path("ca.pem"), "-w", "%{http_code} "]
                + (0..<20).flatMap { _ in [address, "-o", "/dev/null"] })
        #expect(run.text == String(repeating: "200 ", count: 20), "\(run.errors)")
        eventually("three failures") { server.statistics.tlsHandshakeFailures == 3 }
    }
}

private func hexadecimal(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.utf8.count, by: 2).map { UInt8(text.dropFirst($0).prefix(2), radix: 16)! }
}

extension HTTPServer {
    /// The first moment at which the test's client owes so little that its handshakes go on.
    fileprivate var debtEnd: Int64 {
        var (low, high): (Int64, Int64) = (0, 1 << 62)
        while low < high {
            let middle = (low + high) / 2
            if service.handshakes.isOpen([127, 0, 0, 1], now: middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    fileprivate func plainAnswer() throws -> Int {
        let client = try connect()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return try client.readAnswer().status
    }
}
