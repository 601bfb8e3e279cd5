internal import Bytes

extension ConnectionState {
    /// State of an open connection: when to ping, when to subscribe again and when to give up.
    struct Open {
        let connectedAt: Duration
        var lastByteAt: Duration
        /// Time of the client's last frame, without pongs.
        var lastFrameAt: Duration
        var lastMessageAt: Duration
        var messages = 0
        /// Whether a message was useful to the client's owner.
        var isUseful = false
        var pingSentAt: Duration?
        private var subscribedAt: Duration

        init(at now: Duration) {
            connectedAt = now
            lastByteAt = now
            lastFrameAt = now
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

        /// - Parameter answersPings: whether the server has ever answered a ping.
        mutating func due(at now: Duration, _ limits: WebSocketClientConfiguration, answersPings: Bool) -> Due {
            if now >= idleDeadline(limits) {
                let limit = "\(limits.flagPrefix)idle-timeout \(limits.idleTimeout.prometheusText)"
                let span = lastMessageAt - connectedAt
                let time = span < .seconds(10) ? span : .seconds(span.components.seconds)
                let before = messages > 0 ? "messages before: \(messages) in \(time.prometheusText)" : "nor before that"
                return .disconnect(.idle, detail: "no complete message within \(limit), \(before)")
            }
            if now >= pingDeadline(limits) {
                guard pingSentAt == nil else {
                    let limit = limits.pongTimeout.prometheusText
                    let advice = "; the server has never answered one: try \(limits.flagPrefix)ping-interval 0"
                    let detail = "no data within \(limit) after a ping" + (answersPings ? "" : advice)
                    return .disconnect(.pongTimeout, detail: detail)
                }
                pingSentAt = now
                lastFrameAt = now
                return .ping
            }
            if now >= subscriptionDeadline(limits) {
                subscribedAt = now
                lastFrameAt = now
                return .subscribe
            }
            return .nothing
        }

        private func idleDeadline(_ limits: WebSocketClientConfiguration) -> Duration {
            lastMessageAt + limits.idleTimeout.orNever
        }

        /// When the next ping is due or, after a ping, when the pong time-out expires.
        private func pingDeadline(_ limits: WebSocketClientConfiguration) -> Duration {
            guard let pingSentAt else { return min(lastByteAt, lastFrameAt) + limits.pingInterval.orNever }
            // A server that answers no pings may be silent for as long between messages as without those that are sent
            // only because nothing else is.
            return max(pingSentAt, lastByteAt + limits.pingInterval.orNever) + limits.pongTimeout
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
