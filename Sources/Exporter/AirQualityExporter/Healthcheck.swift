import Bytes
import System
import WebConfiguration

/// `healthcheck`: asks `/-/ready` of the first listen address of this configuration.
///
/// - Returns: the exit status.
func healthcheck(_ configuration: Configuration) -> Int32 {
    do throws(SystemError) {
        guard let address = configuration.web.listenAddresses.first else {
            throw SystemError(.address, "no listen address")
        }
        // Whatever blocks: a file, a name lookup, the server.
        _ = try ServiceThread(name: "watchdog") {
            pauseThread(for: .seconds(5))
            writeUnhealthy("\(address): no response in time")
            endProcess(status: 1)
        }
        let web = try configuration.web.configFile.map { (path) throws(SystemError) in
            try WebConfiguration(file: path)
        }
        switch try HealthProbe(address: address, tls: web?.tls).get(ExporterPath.ready.rawValue) {
        case .http(status: 200, let line): StandardStream.output.write("\(line)\n", within: .seconds(1))
        case .http(let status, let line): throw SystemError(.peer, "\(address): status \(status): \(line)")
        // Without a client certificate there is no more to learn.
        case .tls:
            StandardStream.output.write(
                "the server speaks TLS and requires a client certificate\n", within: .seconds(1))
        }
        return 0
    } catch {
        writeUnhealthy(error.reason)
        return 1
    }
}

private func writeUnhealthy(_ reason: String) {
    LogWriter.standardError.append(Array("air-quality-exporter: unhealthy: \(reason)\n".utf8))
    LogWriter.standardError.flush()
}

/// One GET to a server of this machine, for a health check that needs no shell and no other program.
struct HealthProbe: Sendable {
    var address: ListenAddress
    /// The TLS settings; `nil`: plain HTTP. The server's certificate is not verified: the probe asks whether it
    /// answers, not who it is.
    var tls: TLSConfiguration?

    enum Response: Sendable, Equatable {
        /// The first line of the body, at most `lineLimit` bytes.
        case http(status: Int, line: String)
        /// The server requires a client certificate, which a probe has not, and it spoke TLS.
        case tls
    }

    static let lineLimit = 1024
    private static let responseLimit = 64 << 10

    /// Requests the path and waits for the response, for however long it takes.
    ///
    /// - Throws: `address` (nobody listens), `tls`, or `peer` (the response is not HTTP).
    func get(_ path: String) throws(SystemError) -> Response {
        do throws(SystemError) {
            let socket = try ClientSocket(address)
            let request = Array(
                "GET \(path) HTTP/1.1\r\nHost: localhost\r\nUser-Agent: healthcheck\r\nConnection: close\r\n\r\n".utf8)
            guard let tls else {
                try socket.send(request)
                return try Self.response { () throws(SystemError) in try socket.receive() }
            }
            let session = try TLSSession.client(over: socket.descriptor)
            do throws(SystemError) {
                _ = try session.handshake()
            } catch {
                guard error.code == .peer, tls.wantsClientCertificate else { throw error }
            }
            if tls.wantsClientCertificate { return .tls }
            try session.send(request)
            return try Self.response { () throws(SystemError) in try session.receive() }
        } catch {
            throw SystemError(error.code, "\(address): \(error.reason)")
        }
    }

    /// Reads until the server closes the connection, as it was asked to: `HTTP/1.1 200 …`, header fields, an empty
    /// line, the body.
    static func response(_ receive: () throws(SystemError) -> [UInt8]) throws(SystemError) -> Response {
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
        return .http(status: status, line: String(decoding: line.prefix(lineLimit), as: UTF8.self))
    }
}

extension TLSConfiguration {
    fileprivate var wantsClientCertificate: Bool {
        switch clientAuthentication {
        case .requireAny, .requireAndVerify: true
        // A client without a certificate has no allowed name.
        case .request, .verifyIfGiven: allowedSubjectAlternativeNames != nil
        case .none: false
        }
    }
}
