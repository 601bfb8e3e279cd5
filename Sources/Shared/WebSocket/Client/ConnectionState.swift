internal import Bytes
internal import FeedProtocol
internal import HTTPText
internal import System

/// The state machine of one feed's connections: it takes events and returns actions.
///
/// The machine handles every way in which a connection can end, and reports exactly one `disconnected` for each
/// attempt, however many callbacks libwebsockets makes: the events of a connection carry its number, and only the
/// newest number counts. The deadlines are kept here too, so that none of them depends on a callback. Not copyable:
/// reading from it never copies the configuration.
struct ConnectionState: ~Copyable {
    enum Event: Equatable {
        case started
        /// `nextDeadline` has passed.
        case timer
        case connection(Int, ConnectionEvent)
        case reconnect, pause, resume, stop
    }

    enum ConnectionEvent: Equatable {
        /// IP addresses in the order in which they should be tried.
        case resolved([String])
        case notResolved(detail: String)
        case tcpConnected
        /// TLS, where there is any, is done and the request goes out.
        case requesting
        case answered(HandshakeResponse)
        case closeFrame(CloseFrame)
        case violation(ProtocolViolation)
        /// A file for TLS cannot be used, or the server and we do not agree.
        case tlsFailed(detail: String)
        /// There is no connection any more, or there never was one.
        case ended
    }

    enum Action: Equatable {
        case report(WebSocketEvent)
        case resolve(Int, host: String)
        case dial(Int, ipAddress: String)
        /// The handshake is done: read frames, send the subscriptions.
        case open(Int, Compression?)
        case ping(Int)
        case subscribe(Int)
        case close(Int, status: UInt16?)
        case disconnect(Int, afterSending: Bool)
        case finish
    }

    private enum Phase {
        case initial, paused, finished
        case waiting(until: Duration)
        case attempting(Attempt)
        case open(Open)
        /// `stop` has sent a close frame.
        case closing(until: Duration)
    }

    /// Time that the peer has to answer the close frame of `stop`.
    static let closeTimeout: Duration = .seconds(1)
    /// Lets bytes that have arrived be read before a deadline is acted upon: the process may have been stopped
    /// meanwhile.
    static let grace: Duration = .milliseconds(10)
    /// Longest text about a disconnect, in Unicode scalars.
    static let maximumDetail = 300

    let configuration: WebSocketClientConfiguration
    private var policy: ReconnectPolicy
    private var phase = Phase.initial
    /// Clock reading passed with the current event.
    private var now = Duration.zero
    /// Random number passed with the current event.
    private var random = 0.0
    /// Number of the newest lookup or connection.
    private(set) var number = 0

    init(_ configuration: WebSocketClientConfiguration) {
        self.configuration = configuration
        policy = ReconnectPolicy(minimum: configuration.reconnectMinimum, maximum: configuration.reconnectMaximum)
    }

    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// The time of the next `timer`; `nil` when only another event leads on.
    var nextDeadline: Duration? {
        switch phase {
        case .initial, .paused, .finished: nil
        case .waiting(let until), .closing(let until): until
        case .attempting(let attempt): attempt.addressDeadline ?? attempt.deadline
        case .open(let open): open.nextDeadline(configuration)
        }
    }

    /// Any bytes at all came from the newest connection.
    mutating func received(at now: Duration) {
        guard case .open(var open) = phase else { return }
        open.lastByteAt = now
        open.pingSentAt = nil
        phase = .open(open)
    }

    mutating func receivedMessage(at now: Duration) {
        guard case .open(var open) = phase else { return }
        open.lastMessageAt = now
        open.messages += 1
        phase = .open(open)
    }

    /// - Parameter random: in 0..<1, another one at each call.
    mutating func handle(_ event: Event, at now: Duration, random: Double) -> [Action] {
        self.now = now
        self.random = random
        switch event {
        case .started: if case .initial = phase { return begin() } else { return [] }
        case .timer: return timer()
        case .connection(let number, let event): return number == self.number ? connection(event) : []
        case .reconnect: return reconnect()
        case .pause: return pause()
        case .resume: return resume()
        case .stop: return stop()
        }
    }
}

// MARK: The ways of an attempt

extension ConnectionState {
    private mutating func begin() -> [Action] {
        let timeout = configuration.connectTimeout
        var attempt = Attempt(deadline: timeout > .zero ? now + timeout : nil)
        number += 1
        let host = configuration.address.host
        if isNumericAddress(host) {
            attempt.ipAddresses = [host]
            return [.report(.connecting)] + dialNext(attempt)
        }
        phase = .attempting(attempt)
        return [.report(.connecting), .resolve(number, host: host)]
    }

    private mutating func dialNext(_ attempt: Attempt) -> [Action] {
        var attempt = attempt
        if let deadline = attempt.deadline {
            attempt.addressDeadline = now + (deadline - now) / attempt.ipAddresses.count
        }
        guard let ipAddress = attempt.ipAddresses.popFirst() else { return [] }
        attempt.ipAddress = ipAddress
        attempt.step = .dialling
        phase = .attempting(attempt)
        number += 1
        return [.dial(number, ipAddress: ipAddress)]
    }

    private mutating func connection(_ event: ConnectionEvent) -> [Action] {
        switch phase {
        case .attempting(let attempt): return attempting(attempt, event)
        case .open:
            switch event {
            case .closeFrame(let frame):
                return [.close(number, status: frame.status)]
                    + disconnect(.closed, frame.description, saysGoodbye: true)
            case .violation(let violation):
                return [.close(number, status: violation.closeStatus)]
                    + disconnect(.protocolError, violation.description, saysGoodbye: true)
            case .tlsFailed(let detail): return disconnect(.tls, detail)
            case .ended: return disconnect(.lost, "the connection ended without a close frame")
            default: return []
            }
        case .closing:
            switch event {
            case .closeFrame, .violation, .tlsFailed, .ended: return finish()
            default: return []
            }
        case .initial, .waiting, .paused, .finished: return []
        }
    }

    private mutating func attempting(_ attempt: Attempt, _ event: ConnectionEvent) -> [Action] {
        var attempt = attempt
        switch (event, attempt.step) {
        case (.resolved(let ipAddresses), .resolving) where !ipAddresses.isEmpty:
            attempt.ipAddresses = ipAddresses[...]
            return dialNext(attempt)
        case (.resolved, .resolving): return disconnect(.resolve, "no address for \(configuration.address.host)")
        case (.notResolved(let detail), .resolving): return disconnect(.resolve, detail)
        case (.tcpConnected, .dialling), (.requesting, .dialling), (.requesting, .securing):
            attempt.addressDeadline = nil
            attempt.step = event == .tcpConnected && configuration.address.isSecure ? .securing : .asking
            phase = .attempting(attempt)
            return []
        case (.answered(.accepted(let compression, let fields)), _):
            phase = .open(Open(at: now))
            return [.open(number, compression), .report(.connected(fields))]
        case (.answered(.refused(let detail, let retryAfter)), _):
            return disconnect(.handshake, detail, retryAfter: retryAfter)
        case (.tlsFailed(let detail), _): return disconnect(.tls, detail)
        case (.violation(let violation), _): return disconnect(.protocolError, violation.description)
        case (.ended, .dialling) where !attempt.ipAddresses.isEmpty: return dialNext(attempt)
        case (.ended, _):
            let end = attempt.end(port: configuration.address.port)
            return disconnect(end.reason, end.detail)
        default: return []
        }
    }

    private mutating func timer() -> [Action] {
        switch phase {
        case .waiting(let until) where now >= until: return begin()
        case .attempting(let attempt):
            if let deadline = attempt.deadline, now >= deadline {
                let detail = "no connection within \(configuration.connectTimeout): no \(attempt.step.rawValue)"
                return disconnect(.timeout, detail)
            }
            guard let deadline = attempt.addressDeadline, now >= deadline, !attempt.ipAddresses.isEmpty else {
                return []
            }
            return [.disconnect(number, afterSending: false)] + dialNext(attempt)
        case .open(var open):
            let due = open.due(at: now, configuration)
            phase = .open(open)
            switch due {
            case .nothing: return []
            case .ping: return [.ping(number)]
            case .subscribe: return [.subscribe(number)]
            case .disconnect(let reason, let detail): return disconnect(reason, detail)
            }
        case .closing(let until) where now >= until: return finish()
        default: return []
        }
    }
}

// MARK: The ways to an end

extension ConnectionState {
    /// Ends the attempt or the connection; the next attempt waits as the policy says.
    private mutating func disconnect(
        _ reason: DisconnectReason, _ detail: String, retryAfter: Duration? = nil, saysGoodbye: Bool = false
    ) -> [Action] {
        var connectedFor: Duration?
        if case .open(let open) = phase { connectedFor = now - open.connectedAt }
        let delay = policy.delay(connectedFor: connectedFor, retryAfter: retryAfter, random: random)
        return end(reason, detail, retryAfter: retryAfter, saysGoodbye: saysGoodbye, then: .waiting(until: now + delay))
    }

    private mutating func end(
        _ reason: DisconnectReason, _ detail: String, retryAfter: Duration? = nil, saysGoodbye: Bool, then phase: Phase
    ) -> [Action] {
        let old = number
        number += 1
        self.phase = phase
        // A peer's words fit on one line of a log.
        let line = onOneLine(String(String.UnicodeScalarView(detail.unicodeScalars.prefix(Self.maximumDetail))))
        let report = Action.report(.disconnected(reason, detail: line, retryAfter: retryAfter))
        return [.disconnect(old, afterSending: saysGoodbye), report]
    }

    /// Ends the current attempt or connection on request. If there is none, only the phase changes.
    private mutating func endOnRequest(_ reason: DisconnectReason, _ detail: String, then phase: Phase) -> [Action] {
        switch self.phase {
        case .attempting: return end(reason, detail, saysGoodbye: false, then: phase)
        case .open: return [.close(number, status: 1000)] + end(reason, detail, saysGoodbye: true, then: phase)
        case .initial, .waiting, .closing, .paused, .finished:
            self.phase = phase
            return []
        }
    }

    private mutating func reconnect() -> [Action] {
        var actions: [Action] = []
        switch phase {
        case .initial, .closing, .finished: return []
        case .paused: actions = [.report(.resumed)]
        case .waiting, .attempting, .open:
            actions = endOnRequest(.requested, "reconnect requested", then: .waiting(until: now))
        }
        policy.reset()
        return actions + begin()
    }

    private mutating func pause() -> [Action] {
        switch phase {
        case .initial, .closing, .paused, .finished: return []
        case .waiting, .attempting, .open:
            return endOnRequest(.paused, "pause requested", then: .paused) + [.report(.paused)]
        }
    }

    private mutating func resume() -> [Action] {
        guard case .paused = phase else { return [] }
        policy.reset()
        return [.report(.resumed)] + begin()
    }

    private mutating func stop() -> [Action] {
        switch phase {
        case .closing, .finished: return []
        case .initial, .waiting, .paused: return finish()
        case .attempting: return end(.requested, "shutting down", saysGoodbye: false, then: .initial) + finish()
        case .open:
            phase = .closing(until: now + Self.closeTimeout)
            let report = Action.report(.disconnected(.requested, detail: "shutting down", retryAfter: nil))
            return [.close(number, status: 1001), report]
        }
    }

    private mutating func finish() -> [Action] {
        phase = .finished
        number += 1
        return [.finish]
    }
}
