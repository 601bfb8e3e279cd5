internal import CGnuTLS
internal import Glibc
internal import System

/// A handshake between a server and a client in this process, which shows that clients will be able to connect.
///
/// - Parameter priority: the server's, which must have a protocol version.
func tryHandshake(credentials: consuming CertificateCredentials, priority: String) throws(SystemError) {
    var numbers: (Int32, Int32) = (-1, -1)
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let result = unsafe withUnsafeMutablePointer(to: &numbers) { pair in
        unsafe pair.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe socketpair(AF_UNIX, type, 0, $0) }
    }
    guard result == 0 else { throw SystemError(.system, describe(errorNumber: errno)) }
    let serverSocket = FileDescriptor(owning: numbers.0)
    let clientSocket = FileDescriptor(owning: numbers.1)
    let server = try TLSSession.open(
        GNUTLS_SERVER, GNUTLS_NONBLOCK, priority: priority, credentials: credentials, socket: serverSocket)
    let client = try TLSSession.client(GNUTLS_NONBLOCK, over: clientSocket)
    var (isServerReady, isClientReady) = (false, false)
    // Each turn takes in what the other side has sent; a handshake needs a few.
    for _ in 0..<100 where !(isServerReady && isClientReady) {
        if !isClientReady { isClientReady = try client.handshake() }
        if !isServerReady { isServerReady = try server.handshake() }
    }
    guard isServerReady && isClientReady else { throw SystemError(.tls, "the handshake does not complete") }
}
