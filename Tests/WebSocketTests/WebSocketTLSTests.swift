import Foundation
import Synchronization
import TestSupport
import Testing

@testable import WebSocket

/// A WebSocket server on Python's own ssl module: `python -c PROGRAM cert key [ca of clients]`.
private let securePeer = """
    import base64, hashlib, socket, ssl, sys, threading
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    if len(sys.argv) > 3:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(sys.argv[3])
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    listener = socket.create_server(("", 0), family=family, dualstack_ipv6=family == socket.AF_INET6)
    print(listener.getsockname()[1], flush=True)
    def serve(plain):
        try:
            with context.wrap_socket(plain, server_side=True) as peer:
                head = b""
                while not head.endswith(b"\\r\\n\\r\\n"):
                    head += peer.recv(1)
                lines = dict(l.split(b": ", 1) for l in head.split(b"\\r\\n")[1:] if l)
                accept = hashlib.sha1(lines[b"Sec-WebSocket-Key"] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
                peer.sendall(b"HTTP/1.1 101 X\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                    b"Sec-WebSocket-Accept: " + base64.b64encode(accept) + b"\\r\\n\\r\\n")
                # One record of many messages, larger than what is read at once.
                text = b"x" * 60000
                peer.sendall((b"\\x81\\x7e" + len(text).to_bytes(2, "big") + text) * 5)
                peer.sendall(b"\\x81\\x06secure")
                while peer.recv(4096):
                    pass
        except OSError:
            pass
    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()
    """

/// Authorities and certificates made by the `openssl` program in a folder of their own.
private final class Certificates: Sendable {
    let folder: String

    static let shared: Certificates? = Certificates()

    static var interpreter: String? { PythonPeer.interpreter(with: "ssl") }

    static var canRun: Bool { shared != nil && interpreter != nil }

    private init?() {
        folder = NSTemporaryDirectory() + "/websocket-tls-\(getpid())"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard authority("ca"), authority("other-ca"),
            certificate("good", "DNS:localhost,IP:127.0.0.1,IP:::1"), certificate("other-name", "DNS:other.example"),
            certificate("expired", "DNS:localhost,IP:127.0.0.1", days: "-1"),
            certificate("client", "DNS:client.example")
        else { return nil }
    }

    func path(_ name: String) -> String { "\(folder)/\(name).pem" }

    private func openssl(_ arguments: String) -> Bool {
        PythonPeer.run("openssl", arguments.split(separator: " ").map(String.init), in: folder)
    }

    private func authority(_ name: String) -> Bool {
        openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=\(name) "
                + "-keyout \(name)-key.pem -out \(name).pem")
    }

    private func certificate(_ name: String, _ names: String, days: String = "2") -> Bool {
        let extensions = "\(folder)/\(name).ext"
        guard (try? "subjectAltName=\(names)".write(toFile: extensions, atomically: true, encoding: .utf8)) != nil,
            openssl(
                "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) -keyout \(name)-key.pem "
                    + "-out \(name).csr")
        else { return false }
        return openssl(
            "x509 -req -in \(name).csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days \(days) "
                + "-extfile \(name).ext -out \(name).pem")
    }
}

@Suite(.enabled(if: Certificates.canRun, "needs the openssl program and a python3")) struct WebSocketTLSTests {
    private var certificates: Certificates { Certificates.shared! }

    private func withPeer(
        _ certificate: String, clientCA: String? = nil, host: String = "localhost",
        change: (inout WebSocketClientConfiguration) -> Void, _ body: (WebSocketClient, ClientLog) throws -> Void
    ) throws {
        let peer = try PythonPeer(
            Certificates.interpreter!, program: securePeer,
            arguments: [certificates.path(certificate), certificates.path(certificate + "-key")]
                + (clientCA.map { [certificates.path($0)] } ?? []))
        defer { peer.stop() }
        var configuration = WebSocketClientConfiguration(address: try WebSocketAddress("wss://\(host):\(peer.port)/"))
        configuration.reconnectMinimum = .milliseconds(20)
        configuration.reconnectMaximum = .milliseconds(100)
        configuration.tls.caFile = certificates.path("ca")
        change(&configuration)
        try withClient(configuration) { client, log in
            defer { peer.stop() }
            try body(client, log)
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1", "[::1]"])
    func `A server of a given authority is trusted, by name and by address`(host: String) throws {
        try withPeer(
            "good", host: host, change: { _ in },
            { _, log in
                log.wait(for: "messages") { $0.messages.count == 6 }
                #expect(log.current.events == [.connecting, .opened])
                #expect(log.texts.last == "secure")
                #expect(log.texts.dropLast().allSatisfy { $0.utf8.count == 60000 })
            })
    }

    /// Opened a second time by its name, the file could be a pipe by then, on which OpenSSL would wait.
    @Test(
        .timeLimit(.minutes(5)))
    func `Files that change places with pipes all the time are used or rejected, and nothing waits`() async throws {
        let directory = TemporaryDirectory()
        let content = { try Array(Data(contentsOf: URL(fileURLWithPath: $0))) }
        let certificate = try content(certificates.path("client"))
        let key = try content(certificates.path("client-key"))
        let isOver = Mutex(false)
        let swapping = Thread {
            while !isOver.withLock({ $0 }) {
                for (name, bytes) in [("certificate", certificate), ("key", key), ("authority", certificate)] {
                    directory.makePipe("pipe")
                    directory.move("pipe", to: name)
                    directory.write("file", bytes)
                    directory.move("file", to: name)
                }
            }
        }
        swapping.start()
        defer { isOver.withLock { $0 = true } }
        var tls = WebSocketTLS()
        tls.caFile = directory.file("authority")
        tls.certificateFile = directory.file("certificate")
        tls.keyFile = directory.file("key")
        let checked = tls
        var (used, refused) = (0, 0)
        while used == 0 || refused < 100 {
            do {
                try checked.check()
                used += 1
            } catch {
                let reason = error.reason
                #expect(["regular file", "No such file"].contains(where: reason.contains), "\(reason)")
                refused += 1
            }
        }
    }

    struct Rejection: Sendable, CustomTestStringConvertible {
        var name: String
        var certificate = "good"
        var clientCA: String?
        var host = "localhost"
        var change: @Sendable (inout WebSocketTLS, (String) -> String) -> Void = { _, _ in }
        var detail: String
        var testDescription: String { name }

        static let all: [Rejection] = [
            Rejection(
                name: "unknown authority", change: { tls, path in tls.caFile = path("other-ca") },
                detail: "the server's certificate: unable to get local issuer certificate"),
            Rejection(
                name: "the system does not know it either", change: { tls, _ in tls.caFile = nil },
                detail: "the server's certificate: unable to get local issuer certificate"),
            Rejection(
                name: "other name", certificate: "other-name", detail: "the server's certificate: hostname mismatch"),
            Rejection(
                name: "other address", certificate: "other-name", host: "127.0.0.1",
                detail: "the server's certificate: IP address mismatch"),
            Rejection(
                name: "other IPv6 address", certificate: "other-name", host: "[::1]",
                detail: "the server's certificate: IP address mismatch"),
            Rejection(
                name: "expired", certificate: "expired", detail: "the server's certificate: certificate has expired"),
            Rejection(name: "no client certificate", clientCA: "ca", detail: "the server says: certificate required"),
            Rejection(
                name: "client certificate of another authority", clientCA: "other-ca",
                change: { tls, path in
                    tls.certificateFile = path("client")
                    tls.keyFile = path("client-key")
                }, detail: "the server says: unknown CA"),
            Rejection(
                name: "authorities that are none", change: { tls, path in tls.caFile = path("ca-key") },
                detail: "cannot use the authorities in"),
            Rejection(
                name: "authorities that are not there", change: { tls, path in tls.caFile = path("none") },
                detail: "cannot read"),
            Rejection(
                name: "key of another certificate",
                change: { tls, path in
                    tls.certificateFile = path("client")
                    tls.keyFile = path("good-key")
                }, detail: "cannot use the key in"),
        ]
    }

    @Test(arguments: Rejection.all) func `A connection with TLS that cannot be trusted ends with the reason`(
        _ row: Rejection
    ) throws {
        let path = certificates.path
        try withPeer(
            row.certificate, clientCA: row.clientCA, host: row.host, change: { row.change(&$0.tls, path) },
            { _, log in
                log.wait(for: "two attempts") { _ in log.disconnects.count >= 2 }
                #expect(log.disconnects.prefix(2) == [.tls, .tls])
                guard case .disconnected(_, let detail, _) = log.current.events[1] else { return }
                #expect(detail.hasPrefix(row.detail), "\(detail)")
            })
    }

    @Test(
        arguments: ["good", "other-name", "expired"], ["localhost", "127.0.0.1", "[::1]"])
    func `Without verification every certificate is accepted`(certificate: String, host: String) throws {
        try withPeer(
            certificate, host: host,
            change: {
                $0.tls.caFile = nil
                $0.tls.skipsVerification = true
            },
            { _, log in
                log.wait(for: "messages") { $0.messages.count == 6 }
                #expect(log.current.events == [.connecting, .opened])
            })
    }

    @Test func `Certificate files are read for each connection`() throws {
        let file = certificates.path("rotating-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.copyItem(atPath: certificates.path("other-ca"), toPath: file)
        try withPeer(
            "good", change: { $0.tls.caFile = file },
            { client, log in
                log.wait(for: "rejection") { _ in log.disconnects.contains(.tls) }
                let good = try Data(contentsOf: URL(filePath: certificates.path("ca")))
                try good.write(to: URL(filePath: file), options: .atomic)
                log.wait(for: "connection") { $0.events.contains(.opened) }
            })
    }

    @Test func `Several clients with TLS do not disturb one another`() throws {
        try withPeer(
            "good", change: { _ in },
            { one, first in
                try withPeer(
                    "good", change: { _ in },
                    { two, second in
                        for round in 1...50 {
                            for log in [first, second] {
                                log.wait(for: "connection") { $0.events.count { $0 == .opened } == round }
                            }
                            one.reconnect()
                            two.reconnect()
                        }
                        for log in [first, second] { #expect(Set(log.disconnects) == [.requested]) }
                    })
            })
    }
}
