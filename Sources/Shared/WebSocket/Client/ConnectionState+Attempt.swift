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
        /// IP addresses that have not been tried yet.
        var ipAddresses: ArraySlice<String> = []
        var ipAddress = ""
        var deadline: Duration
        /// Deadline for connecting to the current IP address: an equal share of the time left.
        var addressDeadline: Duration?
        /// The response that refuses the handshake, while its body is read.
        var rejection: HandshakeResponse?

        /// Returns the disconnect reason if the connection ends in this step.
        func end(port: Int) -> (reason: DisconnectReason, detail: String) {
            switch step {
            case .resolving: (.resolve, "the name lookup ended")
            case .dialling: (.refused, "cannot connect to \(ipAddress) port \(port)")
            case .securing: (.tls, "the server ended the connection during the TLS handshake; it may not speak TLS")
            case .asking: (.lost, "the server ended the connection without a response; is the path right?")
            }
        }
    }
}
