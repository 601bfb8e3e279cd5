import Bytes
import System
import WebConfiguration

/// One GET to a server of this machine, for a health check that needs no shell and no other program.
struct HealthProbe: Sendable {
    var address: ListenAddress
    /// Plain HTTP where `nil`. The server's certificate is not verified: the probe asks if it answers, not who it is.
    var tls: TLSConfiguration?

    /// Bytes of a line that is shown.
    static let lineLimit = 1024
    private static let responseLimit = 64 << 10

    /// Requests the path and waits for the response, for however long it takes.
    ///
    /// - Returns: the body's first line; `nil` when the server wants a TLS client certificate, which a probe has not.
    /// - Throws: `address` (nobody listens), `peer` (the status is not 200, or the response is not HTTP), or `system`
    ///   (TLS).
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
                // In TLS 1.2 the server ends a connection without a client certificate, mostly with no alert.
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

    /// Reads until the server closes the connection: `HTTP/1.1 200 …`, header fields, an empty line, the body.
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
