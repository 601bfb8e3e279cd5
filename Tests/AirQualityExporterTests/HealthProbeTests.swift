import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AirQualityExporter
@testable import HTTPServer
@testable import System
@testable import WebConfiguration

@Suite struct HealthProbeTests {
    @Test("a server on TCP answers") func tcp() throws {
        let server = try ScriptedServer { _ in Array("HTTP/1.1 503 x\r\n\r\nno message yet\n".utf8) }
        let answer = try HealthProbe(address: server.address).get("/-/ready")
        #expect(answer == .http(status: 503, line: "no message yet"))
        #expect(
            server.finish()
                == "GET /-/ready HTTP/1.1\r\nHost: localhost\r\nUser-Agent: healthcheck\r\nConnection: close\r\n\r\n")
    }

    @Test("a server on a unix socket answers") func unix() throws {
        let directory = TemporaryDirectory()
        let server = try ScriptedServer(.unix(path: directory.path + "/socket")) { _ in
            Array("HTTP/1.1 200 OK\r\n\r\nready".utf8)
        }
        let answer = try HealthProbe(address: server.address).get("/-/ready")
        #expect(answer == .http(status: 200, line: "ready"))
    }

    @Test("the project's own server answers", arguments: ["127.0.0.1:0", ":0", "[::1]:0", "unix"])
    func ownServer(address: String) throws {
        let directory = TemporaryDirectory()
        let listen = try ListenAddress(address == "unix" ? "unix:\(directory.path)/socket" : address)
        let route = Route("/-/ready") { _ in HTTPResponse(status: 200, line: "ready") }
        let server = try HTTPServer(configuration: HTTPServerConfiguration(addresses: [listen], routes: [route]))
        defer { server.stop(within: .seconds(1)) }
        let bound = server.addresses[0]
        let probed: ListenAddress =
            if case .tcp(let host, _) = listen, case .tcp(_, let port) = bound { .tcp(host: host, port: port) } else {
                bound
            }
        let answer = try HealthProbe(address: probed).get("/-/ready")
        #expect(answer == .http(status: 200, line: "ready"))
    }

    @Test(
        "a response is read, or is an error",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n", 200, "OK"),
            ("HTTP/1.0 200\r\n\r\nOK\r\nmore", 200, "OK"),
            ("HTTP/1.1 503 x\r\n\r\n", 503, ""), ("", nil, "closed"), ("HTTP/1.1 200 OK\r\n", nil, "not HTTP"),
            ("SSH-2.0-x\r\n\r\n", nil, "not HTTP"), ("HTTP/2 200 OK\r\n\r\n", nil, "not HTTP"),
            ("HTTP/1.1 099 x\r\n\r\n", nil, "not HTTP"), ("HTTP/1.1 +99 x\r\n\r\n", nil, "not HTTP"),
            ("HTTP/1.1 100 x\r\n\r\n", nil, "not HTTP"),
        ] as [(String, Int?, String)])
    func reads(response: String, status: Int?, text: String) {
        do throws(SystemError) {
            let answer = try HealthProbe.response(Array(response.utf8))
            #expect(status.map { .http(status: $0, line: text) } == answer)
        } catch {
            #expect(status == nil && error.code == .peer && error.reason.contains(text))
        }
    }

    @Test("neither response nor line is without bound") func bounds() throws {
        let server = try ScriptedServer { _ in
            Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 0x61, count: 1 << 20)
        }
        let answer = try HealthProbe(address: server.address).get("/")
        #expect(answer == .http(status: 200, line: String(repeating: "a", count: HealthProbe.lineLimit)))
    }

    @Test("a server that closes without an answer is an error") func closes() throws {
        let server = try ScriptedServer { _ in [] }
        let error = #expect(throws: SystemError.self) { try HealthProbe(address: server.address).get("/") }
        #expect(error?.code == .peer)
    }

    @Test("nobody there is an error that names the address") func nobody() throws {
        // A port on which nobody listens any more.
        let address = try ListeningSocket.open(.tcp(host: "127.0.0.1", port: 0)).address
        let refused = #expect(throws: SystemError.self) { try HealthProbe(address: address).get("/") }
        #expect(refused?.reason == "\(address): Connection refused")
        let missing = #expect(throws: SystemError.self) {
            try HealthProbe(address: .unix(path: "/none/socket")).get("/")
        }
        #expect(missing?.reason == "unix:/none/socket: No such file or directory")
        let unknown = #expect(throws: SystemError.self) {
            try HealthProbe(address: .tcp(host: "localhost", port: 0)).get("/")
        }
        #expect(unknown?.code == .address)
    }

    // MARK: - TLS, against OpenSSL

    static let openssl = "/usr/bin/openssl"
    static let hasOpenSSL = FileManager.default.isExecutableFile(atPath: openssl)

    @Test(
        "a TLS server answers, whoever it is", .enabled(if: hasOpenSSL, "\(openssl) is not installed"),
        arguments: [
            ["server", "-tls1_3"], ["server", "-tls1_2"], ["server-ec", "-tls1_3"], ["server-ed25519", "-tls1_2"],
        ])
    func tls(options: [String]) throws {
        let server = try OpenSSLServer(certificate: options[0], options: Array(options[1...]))
        let probe = HealthProbe(address: server.address, tls: server.configuration)
        guard case .http(let status, _) = try probe.get("/") else {
            Issue.record("no HTTP")
            return
        }
        #expect(status == 200)
    }

    @Test(
        "where a client certificate is required, TLS is enough",
        .enabled(if: hasOpenSSL, "\(openssl) is not installed"), arguments: ["-tls1_3", "-tls1_2"])
    func clientCertificate(version: String) throws {
        let server = try OpenSSLServer(
            certificate: "server", options: [version, "-Verify", "1", "-verify_return_error"])
        var configuration = server.configuration
        configuration.clientAuthentication = .requireAndVerify
        let probe = HealthProbe(address: server.address, tls: configuration)
        #expect(try probe.get("/") == .tls)
        // The same server is no answer to a probe that knows of no such requirement.
        #expect(throws: SystemError.self) {
            try HealthProbe(address: server.address, tls: server.configuration).get("/")
        }
    }

    @Test("a server without TLS is an error", arguments: [TLSConfiguration.ClientAuthentication.none, .requireAny])
    func notTLS(authentication: TLSConfiguration.ClientAuthentication) throws {
        let server = try ScriptedServer { _ in Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8) }
        var configuration = TLSConfiguration(certificate: [], key: [], priority: "")
        configuration.clientAuthentication = authentication
        let error = #expect(throws: SystemError.self) {
            try HealthProbe(address: server.address, tls: configuration).get("/")
        }
        #expect(error?.code == .tls)
    }
}

/// Accepts one connection, reads a request, answers what it is told to, and closes.
private final class ScriptedServer: Sendable {
    let address: ListenAddress
    private let thread: ServiceThread
    private let received = Received()

    private final class Received: Sendable { let bytes = Mutex<[UInt8]>([]) }

    init(
        _ listen: ListenAddress = .tcp(host: "127.0.0.1", port: 0),
        answer: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) throws {
        let socket = try ListeningSocket.open(listen)
        address = socket.address
        thread = try ServiceThread(name: "scripted") { [received] in
            var readable = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            while unsafe poll(&readable, 1, -1) < 1 {}
            let connection = accept(socket.descriptor, nil, nil)
            let request = Self.request(from: connection)
            received.bytes.withLock { $0 = request }
            _ = writeAll(answer(request), to: connection)
            close(connection)
        }
    }

    /// What came, once the connection is over.
    func finish() -> String {
        thread.join()
        return received.bytes.withLock { String(decoding: $0, as: UTF8.self) }
    }

    /// Up to the blank line; of what is not HTTP, the first piece.
    private static func request(from connection: Int32) -> [UInt8] {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        repeat {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            request += buffer[..<count]
        } while request.starts(with: Array("GET".utf8)) && !request.suffix(4).elementsEqual("\r\n\r\n".utf8)
        return request
    }
}

/// OpenSSL's test server, another implementation of TLS. It answers with a status page.
private final class OpenSSLServer {
    let address: ListenAddress
    let configuration = TLSConfiguration(certificate: [], key: [], priority: "")
    private let process = Process()

    init(certificate: String, options: [String]) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "WebConfigurationTests/Fixtures/web-config").path
        process.executableURL = URL(filePath: HealthProbeTests.openssl)
        process.arguments =
            [
                "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", "\(folder)/\(certificate).pem",
                "-key", "\(folder)/\(certificate).key",
            ] + options
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.contains("ACCEPT 127.0.0.1:") || !text.hasSuffix("\n") {
            let piece = output.fileHandleForReading.availableData
            try #require(!piece.isEmpty, "OpenSSL ended: \(text)")
            text += String(decoding: piece, as: UTF8.self)
        }
        let port = try #require(text.split(separator: "\n").last?.split(separator: ":").last)
        address = try ListenAddress("127.0.0.1:\(port)")
    }

    deinit {
        // It inherits the blocked SIGTERM of the thread that runs the test.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
