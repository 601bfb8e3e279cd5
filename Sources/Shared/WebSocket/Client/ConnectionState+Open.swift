internal import Bytes
internal import FeedProtocol

extension ConnectionState {
    /// Connected: when to ping and when to give up.
    struct Open {
        let connectedAt: Duration
        var lastByteAt: Duration
        var lastMessageAt: Duration
        var messages = 0
        var pingSentAt: Duration?
        /// Time at which the subscriptions were sent last.
        private var subscribedAt: Duration
        /// A deadline was found to have passed.
        private var overdueSince: Duration?

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

        func nextDeadline(_ limits: WebSocketClientConfiguration) -> Duration? {
            if let overdueSince { return overdueSince + ConnectionState.grace }
            // Asked after every message, so without an array.
            let nextSend = earlier(pingDeadline(limits), subscriptionDeadline(limits))
            return earlier(idleDeadline(limits), earlier(pongDeadline(limits), nextSend))
        }

        mutating func due(at now: Duration, _ limits: WebSocketClientConfiguration) -> Due {
            guard let ending = overdue(at: now, limits) else {
                overdueSince = nil
                if let deadline = subscriptionDeadline(limits), now >= deadline {
                    subscribedAt = now
                    return .subscribe
                }
                guard let deadline = pingDeadline(limits), now >= deadline else { return .nothing }
                pingSentAt = now
                return .ping
            }
            guard let overdueSince else {
                self.overdueSince = now
                return .nothing
            }
            return now >= overdueSince + ConnectionState.grace ? ending : .nothing
        }

        private func overdue(at now: Duration, _ limits: WebSocketClientConfiguration) -> Due? {
            if let deadline = idleDeadline(limits), now >= deadline {
                let limit = "\(limits.idleTimeoutName) \(limits.idleTimeout.prometheusText)"
                let span = lastMessageAt - connectedAt
                let time = span < .seconds(10) ? span : .seconds(span.components.seconds)
                let before = messages > 0 ? "messages before: \(messages) in \(time.prometheusText)" : "nor before"
                return .disconnect(.idle, detail: "no whole message within \(limit), \(before)")
            }
            if let deadline = pongDeadline(limits), now >= deadline {
                return .disconnect(.pongTimeout, detail: "nothing for \(limits.pongTimeout) after a ping")
            }
            return nil
        }

        private func idleDeadline(_ limits: WebSocketClientConfiguration) -> Duration? {
            limits.idleTimeout > .zero ? lastMessageAt + limits.idleTimeout : nil
        }

        private func pongDeadline(_ limits: WebSocketClientConfiguration) -> Duration? {
            limits.pongTimeout > .zero ? pingSentAt.map { $0 + limits.pongTimeout } : nil
        }

        private func subscriptionDeadline(_ limits: WebSocketClientConfiguration) -> Duration? {
            guard limits.subscriptionInterval > .zero, !limits.subscriptions.isEmpty else { return nil }
            return subscribedAt + limits.subscriptionInterval
        }

        private func pingDeadline(_ limits: WebSocketClientConfiguration) -> Duration? {
            guard limits.pingInterval > .zero, pingSentAt == nil || limits.pongTimeout == .zero else { return nil }
            return (pingSentAt ?? lastByteAt) + limits.pingInterval
        }
    }
}

private func earlier(_ one: Duration?, _ other: Duration?) -> Duration? {
    if let one, let other { min(one, other) } else { one ?? other }
}
