internal import Bytes

extension ConnectionState {
    /// The event that an attempt waits for.
    enum Step: String {
        case resolving = "response to the name lookup"
        case dialling = "TCP connection"
        case securing = "TLS handshake"
        case asking = "response to the handshake"
    }

    struct Dial: Equatable {
        let ipAddress: String
        let address: WebSocketAddress
        /// True for the configured server, not for one that it redirects to. Only the configured server may be
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

        /// Disconnect reason if the connection ends in this step.
        var end: (reason: DisconnectReason, detail: String) {
            switch step {
            case .resolving: (.resolve, "the name lookup ended")
            case .dialling: (.refused, "cannot connect to \(ipAddress) port \(address.port)")
            case .securing: (.tls, "the server ended the TLS handshake, ws:// instead of wss://?")
            case .asking: (.lost, "the server ended the connection without a response")
            }
        }
    }
}

/// Exponential back-off with full jitter.
///
/// The bound doubles with each failure in a row: minimum, 2 × minimum, 4 × minimum … maximum. The wait is anything
/// between zero and the bound, all equally likely. A connection that lasted a minute was healthy, and the bound is the
/// minimum again.
struct ReconnectPolicy: Equatable {
    static let healthyAfter: Duration = .seconds(60)
    /// A server that asks for more is asked again all the same.
    static let maximumRetryAfter: Duration = .seconds(3600)
    /// With a smaller bound a dead feed would be dialled without a pause.
    static let minimumBound: Duration = .milliseconds(10)

    let minimum: Duration
    let maximum: Duration
    private(set) var failures = 0

    init(minimum: Duration, maximum: Duration) {
        self.minimum = max(minimum, Self.minimumBound)
        self.maximum = max(maximum, self.minimum)
    }

    /// The bound of the next wait.
    var bound: Duration {
        var bound = minimum
        for _ in 0..<failures where bound < maximum { bound *= 2 }
        return min(bound, maximum)
    }

    /// The wait after a connection that lasted `connectedFor`, nil when it was never open.
    /// - Parameter random: in 0..<1.
    mutating func delay(connectedFor: Duration?, retryAfter: Duration?, random: Double) -> Duration {
        if let connectedFor, connectedFor >= Self.healthyAfter { failures = 0 }
        let jittered = bound * random
        if bound < maximum { failures += 1 }
        return max(jittered, min(retryAfter ?? .zero, Self.maximumRetryAfter))
    }

    /// Somebody asked for a new connection: earlier failures say nothing about it.
    mutating func reset() { failures = 0 }
}
