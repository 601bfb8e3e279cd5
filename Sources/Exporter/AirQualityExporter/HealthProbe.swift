import Bytes
import HTTPServer
import System

/// A GET request to a server on this machine, for a health check that needs no shell or other program.
struct HealthProbe: Sendable {
    var address: ListenAddress
    /// `nil` = plain HTTP. The server's certificate is not verified: the probe checks its health, not its identity.
    var tls: TLSConfiguration?

    /// Maximum number of bytes shown of a line.
    static let lineLimit = 1024
    private static let responseLimit = 64 << 10

    /// Requests the path and waits for the response, without a time-out.
    ///
    /// - Returns: the first line of the body; `nil` if the server requires a TLS client certificate.
    /// - Throws: `address` (nothing listens), `peer` (status other than 200, or not HTTP), `system` (TLS).
    func get(_ path: String) throws(SystemError) -> String? {
        do throws(SystemError) {
            let socket = try ClientSocket(address)
            let request = Array(
                "GET \(path) HTTP/1.1\r\nHost: localhost\r\nUser-Agent: healthcheck\r\nConnection: close\r\n\r\n".utf8)
            guard let tls else {
                try socket.send(request)
                return try Self.line { () throws(SystemError) in try socket.receive() }
            }
            let session = try TLSSession.client(over: socket.descriptor)
            do throws(SystemError) {
                _ = try session.handshake()
            } catch {
                // A TLS 1.2 server closes a connection without a client certificate, mostly without an alert.
                let hasAnswered = error.code == .peer || session.hasPeerCertificate
                guard hasAnswered, tls.requiresClientCertificate else { throw error }
            }
            if tls.requiresClientCertificate { return nil }
            try session.send(request)
            return try Self.line { () throws(SystemError) in try session.receive() }
        } catch {
            throw SystemError(error.code, "\(address): \(error.reason)")
        }
    }

    /// Reads until the server closes the connection, and returns the first line of the body. Requires status 200.
    static func line(_ receive: () throws(SystemError) -> [UInt8]) throws(SystemError) -> String {
        var bytes: [UInt8] = []
        while bytes.count < responseLimit {
            let piece = try receive()
            if piece.isEmpty { break }
            bytes += piece
        }
        if bytes.isEmpty { throw SystemError(.peer, "the server closed the connection") }
        let head = bytes.firstRange(of: Array("\r\n\r\n".utf8))
        guard let head, bytes.starts(with: "HTTP/1.".utf8), bytes.count >= 12, bytes[8] == UInt8(ascii: " "),
            let status: Int = decimalNumber(bytes[9..<12]), 200..<600 ~= status
        else { throw SystemError(.peer, "the response is not HTTP/1.1") }
        let line = bytes[head.upperBound...].prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let text = String(decoding: line.prefix(lineLimit), as: UTF8.self)
        guard status == 200 else { throw SystemError(.peer, "status \(status): \(text)") }
        return text
    }
}
