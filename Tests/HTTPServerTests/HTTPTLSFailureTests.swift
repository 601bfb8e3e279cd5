import TestSupport
import Testing

@testable import HTTPServer
@testable import System

/// Each failed TLS handshake is reported once.
@Suite struct HTTPTLSFailureTests {
    private let certificates: TestCertificates
    /// The client and the reason of each failure.
    private let failures = Monitor<[[String]]>([])

    init() throws { certificates = try TestCertificates.shared() }

    private func serveTLS(
        _ mode: TLSConfiguration.ClientAuthentication = .none, names: [String]? = nil
    ) throws -> HTTPServer {
        let context = try TLSContext(priority: "NORMAL:-VERS-ALL:+VERS-TLS1.2:+VERS-TLS1.3:%COMPAT")
        try context.load(certificate: certificates.content("server.pem"), key: certificates.content("server.key"))
        try context.trust(certificates.content("ca.pem"))
        let tls = TLSConfiguration(
            context: context, clientAuthentication: mode,
            allowedSubjectAlternativeNames: names?.map { Array($0.utf8) })
        return try serve(
            {
                $0.access.tls = tls
                $0.onTLSHandshakeFailure = { [failures] client, reason in
                    failures.change { $0.append([client, reason]) }
                }
            }, respond: echo)
    }

    private func expectFailure(_ reason: String, of server: HTTPServer) {
        eventually("the failure") { failures.read(\.count) == 1 }
        #expect(failures.read(\.self) == [["127.0.0.1", reason]])
    }

    /// A client's certificate, the names that are allowed, and the reason.
    private static let rejected: [(String?, [String]?, String)] = [
        (nil, nil, "no client certificate"), ("client-of-other", nil, "client certificate of an unknown authority"),
        ("client-expired", nil, "client certificate expired or not yet valid"),
        ("client-for-servers", nil, "client certificate not valid for this use"),
        ("client", ["somebody else"], "client certificate has none of the allowed names"),
    ]

    @Test(arguments: rejected, ["-tls1_2", "-tls1_3"])
    func `A client whose certificate is rejected is reported with the reason`(
        _ row: (client: String?, names: [String]?, reason: String), _ version: String
    ) throws {
        let server = try serveTLS(.requireAndVerify, names: row.names)
        let own = row.client.map { ["-cert", certificates.path("\($0).pem"), "-key", certificates.path("\($0).key")] }
        _ = try Subprocess(
            ["openssl", "s_client", "-connect", "127.0.0.1:\(server.port)", "-ign_eof", version] + (own ?? []))
        expectFailure(row.reason, of: server)
    }

    @Test func `A client that stalls in its first TLS message is disconnected in time`() throws {
        let server = try serveTLS()
        let client = try server.connect()
        client.send([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3])
        eventually("the end of the stalled client") {
            server.sweep(after: .seconds(11))
            return failures.read { !$0.isEmpty }
        }
        #expect(try client.readToEnd().isEmpty)
    }

    /// A connection that gives way to another may be waiting to compute, which does not notice its end.
    @Test func `Connections that give way do not exhaust libmicrohttpd's own limit`() throws {
        try #require(OpenFileLimit.raise(forConnections: 2200) == 2200)
        let server = try serveTLS()
        let computing = server.service.computing
        computing.change { $0 = Set((2...17).map { [127, 0, 0, $0] }) }
        var clients: [RawHTTPClient] = []
        defer {
            clients = []
            computing.change { $0 = [] }
        }
        // 512 have a place, and an address that has fewer takes it from one that has more: all 1,024 get in.
        for (hosts, count) in [(2...5, 128), (6...9, 64), (10...17, 32)] as [(ClosedRange<UInt8>, Int)] {
            for host in hosts {
                for _ in 0..<count {
                    let client = try server.connect(from: host)
                    client.send([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3])
                    clients.append(client)
                }
            }
        }
        let last = try server.connect()
        last.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try last.readResponse().status == 400)
    }

    @Test func `A successful handshake and a mere port check are not reported as failures`() throws {
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
        // Only the last one is a failure.
        let client = try server.connect()
        client.send("GET / HTTP/1.1\r\n\r\n")
        _ = try client.readResponse()
        expectFailure("HTTP request on the TLS port", of: server)
    }
}
