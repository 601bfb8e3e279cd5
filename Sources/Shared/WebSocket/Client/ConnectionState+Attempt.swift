internal import Bytes

extension ConnectionState {
    /// What an attempt waits for.
    enum Step: String {
        case resolving = "answer to the name lookup"
        case dialling = "TCP connection"
        case securing = "TLS handshake"
        case asking = "answer to the handshake"
    }

    struct Dial: Equatable {
        let ipAddress: String
        let address: WebSocketAddress
        /// Whether this is the configured server, and not one that it redirects to. Only the configured server may be
        /// sent the user, the password and the configured headers.
        let isTrusted: Bool
    }

    /// On the way to a connection.
    struct Attempt {
        var step = Step.resolving
        var address: WebSocketAddress
        var redirects = 0
        /// Those that have not been tried.
        var ipAddresses: ArraySlice<String> = []
        /// The newest that is tried.
        var ipAddress = ""
        /// Of the whole attempt, redirects included.
        let deadline: Duration?
        /// Of the IP address that is dialled: its share of the time that is left.
        var addressDeadline: Duration?

        /// What it means when the connection ends at this step.
        var end: (reason: DisconnectReason, detail: String) {
            switch step {
            case .resolving: (.resolve, "the name lookup ended")
            case .dialling: (.refused, "cannot connect to \(ipAddress) port \(address.port)")
            case .securing: (.tls, "the server ended the TLS handshake")
            case .asking: (.lost, "the server ended the connection without an answer")
            }
        }
    }
}
