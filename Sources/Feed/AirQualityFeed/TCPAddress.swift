import CommandLine
import System

/// The address that clients connect to.
struct TCPAddress: Sendable {
    /// IP address or name; empty = all of the machine's addresses.
    var host = "127.0.0.1"
    /// Port number; 0 picks a free one.
    var port = 8765
}

extension Flag {
    static func listen(_ member: any WritableKeyPath<Values, TCPAddress> & Sendable) -> Flag {
        let format = ValueFormat<TCPAddress>(
            "HOST:PORT", expected: "host:port, [address]:port or :port, with a port from 0 to 65535",
            text: { ListenAddress.tcp(host: $0.host, port: $0.port).description },
            parse: { text in
                guard case .tcp(let host, let port)? = try? ListenAddress(text) else { return nil }
                return TCPAddress(host: host, port: port)
            })
        return Flag(
            "listen", member, format, "Address for clients; port 0 picks a free one, no host means all addresses.")
    }
}
