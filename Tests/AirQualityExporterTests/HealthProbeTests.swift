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
    @Test func `A server on TCP answers`() throws {
        let server = try ScriptedServer { _ in Array("HTTP/1.1 503 x\r\n\r\nno message yet\n".utf8) }
        let answer = try HealthProbe(address: server.address).get("/-/ready")
        #expect(answer == .http(status: 503, line: "no message yet"))
        #expect(
            server.finish()
                == "GET /-/ready HTTP/1.1\r\nHost: localhost\r\nUser-Agent: healthcheck\r\nConnection: close\r\n\r\n")
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n", 200, "OK"),
            ("HTTP/1.0 200\r\n\r\nOK\r\nmore", 200, "OK"),
            ("HTTP/1.1 503 x\r\n\r\n", 503, ""), ("", nil, "closed"), ("HTTP/1.1 200 OK\r\n", nil, "not HTTP"),
            ("SSH-2.0-x\r\n\r\n", nil, "not HTTP"), ("HTTP/2 200 OK\r\n\r\n", nil, "not HTTP"),
            ("HTTP/1.1 099 x\r\n\r\n", nil, "not HTTP"), ("HTTP/1.1 +99 x\r\n\r\n", nil, "not HTTP"),
            ("HTTP/1.1 100 x\r\n\r\n", nil, "not HTTP"),
        ] as [(String, Int?, String)])
    func `A response is read, or is an error`(response: String, status: Int?, text: String) {
        do throws(SystemError) {
            var pieces = [Array(response.utf8)]
            let answer = try HealthProbe.response { () throws(SystemError) in pieces.popLast() ?? [] }
            #expect(status.map { .http(status: $0, line: text) } == answer)
        } catch {
            #expect(status == nil && error.code == .peer && error.reason.contains(text))
        }
    }

    @Test func `Neither response nor line is without bound`() throws {
        let server = try ScriptedServer { _ in
            Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 0x61, count: 1 << 20)
        }
        let answer = try HealthProbe(address: server.address).get("/")
        #expect(answer == .http(status: 200, line: String(repeating: "a", count: HealthProbe.lineLimit)))
    }

    @Test func `A server that closes without an answer is an error`() throws {
        let server = try ScriptedServer { _ in [] }
        let error = #expect(throws: SystemError.self) { try HealthProbe(address: server.address).get("/") }
        #expect(error?.code == .peer)
    }

    @Test func `Nobody there is an error that names the address`() throws {
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
        .enabled(if: hasOpenSSL, "\(openssl) is not installed"), arguments: ["-tls1_3", "-tls1_2"])
    func `Where a client certificate is required, TLS is enough`(version: String) throws {
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

    @Test(arguments: [TLSConfiguration.ClientAuthentication.none, .requireAny])
    func `A server without TLS is an error`(authentication: TLSConfiguration.ClientAuthentication) throws {
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
