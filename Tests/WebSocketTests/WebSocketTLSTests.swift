import Foundation
import Synchronization
import TestSupport
import Testing

@testable import WebSocket

/// `EndToEnd/feed` has whom a client with TLS trusts, and what it shows of itself.
struct WebSocketTLSTests {
    /// Opened a second time by its name, the file could be a pipe by then, on which OpenSSL would wait.
    @Test(.timeLimit(.minutes(5)))
    func `Files that change places with pipes all the time are used or rejected, and nothing waits`() async throws {
        let certificates = try TestCertificates.shared()
        let directory = TemporaryDirectory()
        let certificate = try certificates.content("client.pem")
        let key = try certificates.content("client.key")
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
        var (used, rejected) = (0, 0)
        while used == 0 || rejected < 100 {
            do {
                try tls.check()
                used += 1
            } catch {
                let reason = error.reason
                #expect(["regular file", "No such file"].contains(where: reason.contains), "\(reason)")
                rejected += 1
            }
        }
    }
}
