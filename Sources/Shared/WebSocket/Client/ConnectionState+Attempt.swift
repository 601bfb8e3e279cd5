internal import FeedProtocol

extension ConnectionState {
    /// The event that an attempt waits for.
    enum Step: String {
        case resolving = "response to the name lookup"
        case dialling = "TCP connection"
        case securing = "TLS handshake"
        case asking = "response to the handshake"
    }

    struct Attempt {
        var step = Step.resolving
        /// IP addresses that have not been tried.
        var ipAddresses: ArraySlice<String> = []
        var ipAddress = ""
        /// End of the time for the whole attempt.
        let deadline: Duration
        /// End of the time for the IP address that is dialled: its share of the time that is left.
        var addressDeadline: Duration?

        /// Disconnect reason if the connection ends in this step.
        func end(port: Int) -> (reason: DisconnectReason, detail: String) {
            switch step {
            case .resolving: (.resolve, "the name lookup ended")
            case .dialling: (.refused, "cannot connect to \(ipAddress) port \(port)")
            case .securing: (.tls, "the server ended the TLS handshake, ws:// instead of wss://?")
            case .asking: (.lost, "the server ended the connection without a response")
            }
        }
    }
}
