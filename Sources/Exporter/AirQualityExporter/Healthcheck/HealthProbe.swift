import HTTPServer
import System
import WebConfiguration

/// One GET to a server of this machine, for a health check that needs no shell and no other program.
struct HealthProbe: Sendable {
    var address: ListenAddress
    /// Nil: plain HTTP. The server's certificate is not verified: the probe asks whether it answers, not who it is.
    var tls: TLSConfiguration?

    init(address: ListenAddress, tls: TLSConfiguration? = nil) {
        self.address = address
        self.tls = tls
    }

    enum Answer: Sendable, Equatable {
        /// The first line of the body, without its end, at most `lineLimit` bytes.
        case http(status: Int, line: String)
        /// The server wants a client certificate, which a probe has not, and it spoke TLS.
        case tls
    }

    static let lineLimit = 1024

    /// Asks for the path and waits for the answer, all within the time; only the lookup of a host that is a name and
    /// not an address is not bounded by it.
    /// - Throws: `address` (nobody listens), `timeout`, `tls`, or `peer` (the answer is not HTTP).
    func get(_ path: String, within time: Duration) throws(SystemError) -> Answer {
        let deadline = monotonicTime() + time
        let connection = try connect(until: deadline)
        guard let tls else {
            return try exchange(path, over: connection, until: deadline)
        }
        let session = try TLSClientSession.open(over: connection)
        let isAccepted: Bool
        do throws(SystemError) {
            isAccepted = try session.handshake(until: deadline)
        } catch {
            throw named(error)
        }
        if tls.wantsClientCertificate { return .tls }
        guard isAccepted else { throw named(SystemError(.tls, "the server refused the handshake")) }
        return try exchange(path, over: session, until: deadline)
    }

    private func exchange(
        _ path: String, over stream: borrowing some ProbeStream & ~Copyable, until deadline: Duration
    ) throws(SystemError) -> Answer {
        do throws(SystemError) {
            try stream.send(request(path), until: deadline)
            var received: [UInt8] = []
            while true {
                let bytes = try stream.receive(until: deadline)
                received += bytes
                if let answer = try HealthAnswer.parse(received, isComplete: bytes.isEmpty) {
                    return .http(status: answer.status, line: answer.line)
                }
            }
        } catch {
            throw named(error)
        }
    }

    private func request(_ path: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nUser-Agent: healthcheck\r\nConnection: close\r\n\r\n".utf8)
    }

    private func named(_ error: SystemError) -> SystemError {
        SystemError(error.code, "\(address): \(error.reason)")
    }

    // MARK: - Connecting

    private func connect(until deadline: Duration) throws(SystemError) -> PlainConnection {
        do throws(SystemError) {
            switch address {
            case .unix(let path):
                return try PlainConnection.open(unix: path, until: deadline)
            case .tcp(_, port: 0):
                throw SystemError(.address, "port 0 is known to the server only")
            case .tcp(let host, let port):
                return try connect(hosts: Self.reachable(host), port: port, until: deadline)
            }
        } catch {
            throw named(error)
        }
    }

    private func connect(hosts: [String], port: Int, until deadline: Duration) throws(SystemError) -> PlainConnection {
        var failure = SystemError(.address, "no such host")
        for host in hosts {
            do throws(SystemError) {
                return try PlainConnection.open(host: host, port: port, until: deadline)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Where a client reaches a server that listens on that host; "all interfaces" is no address to connect to.
    static func reachable(_ host: String) -> [String] {
        switch host {
        case "": ["127.0.0.1", "::1"]
        case "0.0.0.0": ["127.0.0.1"]
        case "::": ["::1", "127.0.0.1"]
        default: [host]
        }
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
