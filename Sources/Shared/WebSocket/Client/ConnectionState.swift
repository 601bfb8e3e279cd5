internal import Bytes

/// The state machine of one feed's connections: it takes events and returns actions.
///
/// Each attempt gets exactly one `disconnected`, however many callbacks libwebsockets makes: events carry a
/// connection ID, and only the newest counts. The deadlines are kept here too, so that none depends on a
/// callback. Not copyable, so that reads never copy the configuration.
struct ConnectionState: ~Copyable {
    enum Event: Equatable {
        /// `nextDeadline` has passed. The first one starts the first attempt.
        case timer
        case connection(Int, ConnectionEvent)
        case reconnect, pause, resume, stop
    }

    enum ConnectionEvent: Equatable {
        /// IP addresses in the order to try them.
        case resolved([String])
        case notResolved(detail: String)
        case tcpConnected
        /// The TLS handshake, if any, is complete and the request is sent.
        case requesting
        /// - certificateExpiry: epoch milliseconds; `nil` without TLS.
        case answered(HandshakeResponse, certificateExpiry: Int64? = nil)
        /// The response refuses the handshake, and more of its body may follow.
        case refusing(HandshakeResponse)
        case closeFrame(CloseFrame)
        case violation(ProtocolViolation)
        /// A TLS file cannot be used, or TLS has failed.
        case tlsFailed(detail: String)
        /// The connection is gone, or was never established.
        case ended
    }

    enum Action: Equatable {
        case report(WebSocketEvent)
        case resolve(Int, host: String)
        case dial(Int, ipAddress: String)
        /// Start reading frames and send the subscriptions.
        case open(Int, Compression?)
        case ping(Int)
        case subscribe(Int)
        /// Send a close frame after the queued bytes, and let the server close the connection.
        case close(Int, status: UInt16?)
        /// End the lookup or the connection at once.
        case abort(Int)
        case finish
    }

    private enum Phase {
        case paused, finished
        case waiting(until: Duration)
        case attempting(Attempt)
        case open(Open)
        /// `stop` has sent a close frame.
        case closing(until: Duration)
    }

    /// When an event is handled, and a random value in 0..<1 for it.
    private struct Moment {
        let now: Duration
        let random: Double
    }

    /// How long the server may take to close the connection after the close frame of `stop`.
    static let closeTimeout: Duration = .seconds(1)
    /// How long the body of a rejection may take.
    static let rejectionTimeout: Duration = .seconds(1)

    let configuration: WebSocketClientConfiguration
    private var policy: ReconnectPolicy
    private var phase = Phase.waiting(until: .zero)
    /// Whether the server has ever answered a ping.
    private var answersPings = false
    /// ID of the newest lookup or connection.
    private(set) var connectionID = 0

    init(_ configuration: WebSocketClientConfiguration) {
        self.configuration = configuration
        policy = ReconnectPolicy(minimum: configuration.reconnectMinimum, maximum: configuration.reconnectMaximum)
    }

    /// Time of the next `timer`; `nil` while only other events matter.
    var nextDeadline: Duration? {
        switch phase {
        case .paused, .finished: nil
        case .waiting(let until), .closing(let until): until
        case .attempting(let attempt): attempt.addressDeadline ?? attempt.deadline
        case .open(let open): open.nextDeadline(configuration)
        }
    }

    /// Records that bytes arrived on the newest connection.
    mutating func received(at now: Duration) {
        guard case .open(var open) = phase else { return }
        open.lastByteAt = now
        open.pingSentAt = nil
        phase = .open(open)
    }

    /// Records that a frame other than a pong was sent on the newest connection.
    mutating func sent(at now: Duration) {
        guard case .open(var open) = phase else { return }
        open.lastFrameAt = now
        phase = .open(open)
    }

    mutating func receivedPong() { answersPings = true }

    /// Records that a message on the newest connection was useful; see ``MessageOutcome``.
    mutating func receivedUsefulMessage() {
        guard case .open(var open) = phase, !open.isUseful else { return }
        open.isUseful = true
        phase = .open(open)
    }

    /// Records that complete messages arrived on the newest connection.
    mutating func received(messages count: Int, at now: Duration) {
        guard count > 0, case .open(var open) = phase else { return }
        open.lastMessageAt = now
        open.messages += count
        phase = .open(open)
    }

    /// - Parameter random: a new value in 0..<1 for each call.
    mutating func handle(_ event: Event, at now: Duration, random: Double) -> [Action] {
        let moment = Moment(now: now, random: random)
        switch event {
        case .timer: return timer(at: moment)
        case .connection(let id, let event): return id == connectionID ? connection(event, at: moment) : []
        case .reconnect: return reconnect(at: moment)
        case .pause: return pause()
        case .resume: return resume(at: moment)
        case .stop: return stop(at: now)
        }
    }
}

// MARK: Attempts and connections

extension ConnectionState {
    private mutating func begin(at moment: Moment) -> [Action] {
        var attempt = Attempt(deadline: moment.now + configuration.connectTimeout)
        connectionID += 1
        let host = configuration.address.host
        if isNumericAddress(host) {
            attempt.ipAddresses = [host]
            return [.report(.connecting)] + dialNext(attempt, at: moment.now)
        }
        phase = .attempting(attempt)
        return [.report(.connecting), .resolve(connectionID, host: host)]
    }

    private mutating func dialNext(_ attempt: Attempt, at now: Duration) -> [Action] {
        var attempt = attempt
        attempt.addressDeadline = now + (attempt.deadline - now) / attempt.ipAddresses.count
        attempt.ipAddress = attempt.ipAddresses.removeFirst()
        attempt.step = .dialling
        phase = .attempting(attempt)
        connectionID += 1
        return [.dial(connectionID, ipAddress: attempt.ipAddress)]
    }

    private mutating func connection(_ event: ConnectionEvent, at moment: Moment) -> [Action] {
        switch (phase, event) {
        case (.attempting(let attempt), _): return attempting(attempt, event, at: moment)
        case (.open, .closeFrame(let frame)):
            let ending = Action.close(connectionID, status: frame.status)
            return disconnect(.closed, frame.description, serverWords: frame.reason, by: ending, at: moment)
        case (.open, .violation(let violation)):
            let close = Action.close(connectionID, status: violation.closeStatus)
            return disconnect(.protocolError, violation.description, by: close, at: moment)
        case (.open, .tlsFailed(let detail)): return disconnect(.tls, detail, at: moment)
        case (.open, .ended): return disconnect(.lost, "the connection ended without a close frame", at: moment)
        case (.closing, .ended): return finish()
        default: return []
        }
    }

    private mutating func attempting(_ attempt: Attempt, _ event: ConnectionEvent, at moment: Moment) -> [Action] {
        var attempt = attempt
        switch (event, attempt.step) {
        case (.resolved(let ipAddresses), .resolving) where !ipAddresses.isEmpty:
            attempt.ipAddresses = ipAddresses[...]
            return dialNext(attempt, at: moment.now)
        case (.resolved, .resolving):
            return disconnect(.resolve, "no address for \(configuration.address.host)", at: moment)
        case (.notResolved(let detail), .resolving): return disconnect(.resolve, detail, at: moment)
        case (.tcpConnected, .dialling), (.requesting, .dialling), (.requesting, .securing):
            attempt.addressDeadline = nil
            attempt.step = event == .tcpConnected && configuration.address.isSecure ? .securing : .asking
            phase = .attempting(attempt)
            return []
        case (.answered(.accepted(let compression, let fields), let expiry), _):
            phase = .open(Open(at: moment.now))
            return [.open(connectionID, compression), .report(.connected(fields, certificateExpiry: expiry))]
        case (.answered(.rejected(let detail, let serverWords, let retryAfter), _), _):
            return disconnect(.handshake, detail, serverWords: serverWords, retryAfter: retryAfter, at: moment)
        case (.refusing(let response), _):
            if attempt.rejection == nil { attempt.deadline = min(attempt.deadline, moment.now + Self.rejectionTimeout) }
            attempt.rejection = response
            phase = .attempting(attempt)
            return []
        case (.ended, _) where attempt.rejection != nil, (.tlsFailed, _) where attempt.rejection != nil:
            return rejected(attempt, at: moment)
        case (.tlsFailed(let detail), _): return disconnect(.tls, detail, at: moment)
        case (.violation(let violation), _): return disconnect(.protocolError, violation.description, at: moment)
        case (.ended, .dialling) where !attempt.ipAddresses.isEmpty: return dialNext(attempt, at: moment.now)
        case (.ended, _):
            let end = attempt.end(port: configuration.address.port)
            return disconnect(end.reason, end.detail, at: moment)
        default: return []
        }
    }

    /// Ends an attempt with what has arrived of the rejection.
    private mutating func rejected(_ attempt: Attempt, at moment: Moment) -> [Action] {
        attempting(attempt, .answered(attempt.rejection ?? .interim), at: moment)
    }

    private mutating func timer(at moment: Moment) -> [Action] {
        switch phase {
        case .waiting(let until) where moment.now >= until: return begin(at: moment)
        case .attempting(let attempt):
            if moment.now >= attempt.deadline {
                if attempt.rejection != nil { return rejected(attempt, at: moment) }
                let limit = configuration.connectTimeout.prometheusText
                let detail = "no connection within \(limit): no \(attempt.step.rawValue)"
                return disconnect(.timeout, detail, at: moment)
            }
            guard let deadline = attempt.addressDeadline, moment.now >= deadline, !attempt.ipAddresses.isEmpty else {
                return []
            }
            return [.abort(connectionID)] + dialNext(attempt, at: moment.now)
        case .open(var open):
            let due = open.due(at: moment.now, configuration, answersPings: answersPings)
            phase = .open(open)
            switch due {
            case .nothing: return []
            case .ping: return [.ping(connectionID)]
            case .subscribe: return [.subscribe(connectionID)]
            case .disconnect(let reason, let detail): return disconnect(reason, detail, at: moment)
            }
        case .closing(let until) where moment.now >= until: return finish()
        default: return []
        }
    }
}

// MARK: Ending

extension ConnectionState {
    /// Ends the attempt or connection, with `abort` by default; the policy decides how long to wait for the next.
    private mutating func disconnect(
        _ reason: DisconnectReason, _ detail: String, serverWords: String = "", retryAfter: Duration? = nil,
        by ending: Action? = nil, at moment: Moment
    ) -> [Action] {
        var connectedFor: Duration?
        var wasUseful = false
        if case .open(let open) = phase {
            connectedFor = moment.now - open.connectedAt
            wasUseful = open.isUseful
        }
        let delay = policy.delay(
            connectedFor: connectedFor, wasUseful: wasUseful, retryAfter: retryAfter, random: moment.random)
        return end(
            reason, detail, serverWords: serverWords, retryAfter: retryAfter, by: ending,
            then: .waiting(until: moment.now + delay))
    }

    private mutating func end(
        _ reason: DisconnectReason, _ detail: String, serverWords: String = "", retryAfter: Duration? = nil,
        by ending: Action? = nil, then phase: Phase
    ) -> [Action] {
        let ending = ending ?? .abort(connectionID)
        connectionID += 1
        self.phase = phase
        // A reason phrase and a body, each of at most 200 bytes, or the reason of a close frame.
        let words = onOneLine(serverWords)
        let line = onOneLine(String(String.UnicodeScalarView(detail.unicodeScalars.prefix(300))))
        let event = WebSocketEvent.disconnected(
            reason, detail: line, serverWords: words.isEmpty ? nil : words, retryAfter: retryAfter)
        return [ending, .report(event)]
    }

    /// Ends the current attempt or connection on request. If there is none, only the phase changes.
    private mutating func endOnRequest(_ reason: DisconnectReason, _ detail: String, then phase: Phase) -> [Action] {
        switch self.phase {
        case .attempting: return end(reason, detail, then: phase)
        case .open: return end(reason, detail, by: .close(connectionID, status: 1000), then: phase)
        case .waiting, .closing, .paused, .finished:
            self.phase = phase
            return []
        }
    }

    private mutating func reconnect(at moment: Moment) -> [Action] {
        var actions: [Action] = []
        switch phase {
        case .closing, .finished: return []
        case .paused: actions = [.report(.resumed)]
        case .waiting, .attempting, .open:
            actions = endOnRequest(.requested, "reconnect requested", then: .waiting(until: moment.now))
        }
        policy.reset()
        return actions + begin(at: moment)
    }

    private mutating func pause() -> [Action] {
        switch phase {
        case .closing, .paused, .finished: return []
        case .waiting, .attempting, .open:
            return endOnRequest(.paused, "pause requested", then: .paused) + [.report(.paused)]
        }
    }

    private mutating func resume(at moment: Moment) -> [Action] {
        guard case .paused = phase else { return [] }
        return reconnect(at: moment)
    }

    private mutating func stop(at now: Duration) -> [Action] {
        switch phase {
        case .closing, .finished: return []
        case .waiting, .paused: return finish()
        case .attempting: return end(.requested, "shutting down", then: .finished) + [.finish]
        case .open:
            phase = .closing(until: now + Self.closeTimeout)
            let report = Action.report(.disconnected(.requested, detail: "shutting down"))
            return [.close(connectionID, status: 1001), report]
        }
    }

    private mutating func finish() -> [Action] {
        phase = .finished
        connectionID += 1
        return [.finish]
    }
}
