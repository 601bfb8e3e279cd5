internal import Bytes
internal import FeedProtocol

extension ConnectionState {
    /// State of an open connection: when to ping, when to subscribe again and when to give up.
    struct Open {
        let connectedAt: Duration
        var lastByteAt: Duration
        var lastMessageAt: Duration
        var messages = 0
        var pingSentAt: Duration?
        private var subscribedAt: Duration

        init(at now: Duration) {
            connectedAt = now
            lastByteAt = now
            lastMessageAt = now
            subscribedAt = now
        }

        enum Due {
            case nothing, ping, subscribe
            case disconnect(DisconnectReason, detail: String)
        }

        func nextDeadline(_ limits: WebSocketClientConfiguration) -> Duration {
            min(min(idleDeadline(limits), pingDeadline(limits)), subscriptionDeadline(limits))
        }

        mutating func due(at now: Duration, _ limits: WebSocketClientConfiguration) -> Due {
            if now >= idleDeadline(limits) {
                let limit = "\(limits.idleTimeoutName) \(limits.idleTimeout.prometheusText)"
                let span = lastMessageAt - connectedAt
                let time = span < .seconds(10) ? span : .seconds(span.components.seconds)
                let before = messages > 0 ? "messages before: \(messages) in \(time.prometheusText)" : "nor before that"
                return .disconnect(.idle, detail: "no complete message within \(limit), \(before)")
            }
            if now >= pingDeadline(limits) {
                guard pingSentAt == nil else {
                    let limit = limits.pongTimeout.prometheusText
                    return .disconnect(.pongTimeout, detail: "no data within \(limit) after a ping")
                }
                pingSentAt = now
                return .ping
            }
            if now >= subscriptionDeadline(limits) {
                subscribedAt = now
                return .subscribe
            }
            return .nothing
        }

        private func idleDeadline(_ limits: WebSocketClientConfiguration) -> Duration {
            lastMessageAt + limits.idleTimeout.orNever
        }

        /// When the next ping is due or, after a ping, when the pong time-out expires.
        private func pingDeadline(_ limits: WebSocketClientConfiguration) -> Duration {
            if let pingSentAt { pingSentAt + limits.pongTimeout } else { lastByteAt + limits.pingInterval.orNever }
        }

        private func subscriptionDeadline(_ limits: WebSocketClientConfiguration) -> Duration {
            subscribedAt + limits.subscriptionInterval.orNever
        }
    }
}

extension Duration {
    /// Zero means no limit: a time longer than any process runs.
    fileprivate var orNever: Duration { self > .zero ? self : .seconds(1 << 40) }
}
