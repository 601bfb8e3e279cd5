import Foundation
import Synchronization
import TestSupport
import Testing

@testable import WebSocket

/// `EndToEnd/feed` tests which servers a TLS client trusts and which certificate it presents.
struct WebSocketTLSTests {
    /// A file that is opened a second time by name could be a pipe by then, on which OpenSSL would block.
    @Test(.timeLimit(.minutes(5)))
    func `Files that keep being swapped with pipes are used or rejected, and nothing blocks`() async throws {
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
