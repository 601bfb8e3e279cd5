internal import CLibWebSockets
internal import Glibc
internal import System

/// What runs on a client's thread: carries events of libwebsockets, of the resolver and of other threads to the
/// `ConnectionState`, and does what it answers.
@safe final class ClientLoop {
    private let configuration: WebSocketClientConfiguration
    private let onEvent: @Sendable (WebSocketEvent) -> Void
    private let onMessage: @Sendable (WebSocketMessageKind, Span<UInt8>) -> Void
    private let waker: Waker
    private let resolver: Resolver
    private let tlsFaults = TLSFaults()
    private var state: ConnectionState
    /// One that counts, and a few before it that still say goodbye: too few for a dictionary.
    private var links: [ClientLink] = []
    /// A dial waits for the loop's next turn: libwebsockets is not entered again from its own callbacks.
    private var nextDial: (number: Int, ConnectionState.Dial)?
    private(set) var isFinished = false
    /// The connection whose callback is running, and whether it is to end with it.
    private var current: ClientLink?
    private var currentEnds = false
    private var timerAt: Duration?
    /// The timer may come that much too early.
    private static let slack: Duration = .seconds(2)

    init(
        configuration: WebSocketClientConfiguration, waker: Waker,
        onEvent: @escaping @Sendable (WebSocketEvent) -> Void,
        onMessage: @escaping @Sendable (WebSocketMessageKind, Span<UInt8>) -> Void
    ) {
        self.configuration = configuration
        self.onEvent = onEvent
        self.onMessage = onMessage
        self.waker = waker
        resolver = Resolver(onResult: { waker.wake() })
        state = ConnectionState(configuration)
    }

    func happened(_ event: ConnectionState.Event) {
        for action in state.handle(event, at: monotonicTime(), random: randomUnit()) { perform(action) }
    }

    /// What is to be done outside of libwebsockets' callbacks, before each `service`.
    func turn(_ context: inout WebSocketContext, at now: Duration) {
        if let (number, result) = resolver.takeResult() {
            happened(.connection(number, result))
        }
        while nextDial != nil, let (number, dial) = nextDial.take() {
            self.dial(number, dial, &context)
        }
        schedule(context, at: now)
    }

    /// Comes from within `service`, before it waits.
    func timerFired() {
        timerAt = nil
        happened(.timer)
        // So that it does not wait, and the next turn sets the timer.
        waker.wake()
    }

    /// The timer is set when it has to be earlier, but seldom to be later: most deadlines move on and on, and to set it
    /// for each message costs more than it saves; never to do so would wake a busy client for nothing.
    private func schedule(_ context: borrowing WebSocketContext, at now: Duration) {
        let wanted = min(state.nextDeadline ?? .seconds(Int32.max), now + WebSocketClient.longestSleep)
        if let timerAt, timerAt <= wanted, wanted - timerAt < Self.slack { return }
        timerAt = wanted
        context.schedule(in: wanted - now)
    }

    private func dial(_ number: Int, _ dial: ConnectionState.Dial, _ context: inout WebSocketContext) {
        guard number == state.number else { return }
        if dial.address.isSecure {
            do throws(SystemError) {
                tlsFaults.forget()
                try context.prepareForTLS(configuration.tls, faults: tlsFaults)
            } catch {
                return happened(.connection(number, .cannotSecure(detail: error.reason)))
            }
        }
        let request: HandshakeRequest
        do throws(SystemError) {
            let key = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
            request = try HandshakeRequest(dial, headers: try configuration.headers().get(), key: key)
        } catch {
            return happened(.connection(number, .answered(.refused(detail: error.reason, retryAfter: nil))))
        }
        let link = ClientLink(number: number, dial: dial, request: request)
        links.append(link)
        // When it fails at once, not all of the callbacks come.
        if !context.dial(number, dial) { ended(link, "") }
    }

    private func link(_ number: Int) -> ClientLink? {
        links.first { $0.number == number }
    }

    private func ended(_ link: ClientLink, _ words: String) {
        guard let index = links.firstIndex(where: { $0 === link }) else { return }
        links.remove(at: index)
        link.end()
        happened(.connection(link.number, connectionEnd(link, words)))
    }

    /// libwebsockets' words are for those who know it; `HS:` begins what it says of an answer that is not HTTP.
    private func connectionEnd(_ link: ClientLink, _ words: String) -> ConnectionState.ConnectionEvent {
        switch state.step {
        case .dialling:
            .ended(detail: "cannot connect to \(link.dial.ipAddress) port \(link.dial.address.port)")
        // With TLS 1.3 a server looks at our certificate when for us the handshake is over.
        case .asking where tlsFaults.newest != nil && link.dial.address.isSecure:
            .cannotSecure(detail: tlsFaults.newest ?? words)
        case .asking where words.hasPrefix("HS:") || words == "problems parsing header":
            .answered(.refused(detail: "the answer is not HTTP", retryAfter: nil))
        case .asking:
            .ended(detail: "the server ended the connection without an answer")
        case .securing:
            .ended(detail: link.certificateFault ?? tlsFaults.newest ?? "the server ended the TLS handshake")
        case .resolving, nil:
            .ended(detail: "the connection ended without a close frame")
        }
    }
}

// MARK: What the state wants

extension ClientLoop {
    private func perform(_ action: ConnectionState.Action) {
        switch action {
        case .report(let event): onEvent(event)
        case .resolve(let number, let host): resolver.resolve(number, host: host)
        case .dial(let number, let dial): nextDial = (number, dial)
        case .open(let number, let isCompressed):
            link(number)?.open(
                FrameReader(maximumMessageBytes: configuration.maximumMessageBytes, isCompressed: isCompressed))
            for text in configuration.subscriptions { link(number)?.send(.text, Array(text.utf8)) }
        case .ping(let number): link(number)?.send(.ping, [])
        case .close(let number, let status):
            link(number)?.send(.close, FrameWriter.closePayload(status: status))
        case .hangUp(let number, let afterSending):
            if let link = link(number) { hangUp(link, afterSending: afterSending) }
        case .finish: isFinished = true
        }
    }

    private func hangUp(_ link: ClientLink, afterSending: Bool) {
        link.reader = nil
        link.isEnding = true
        if afterSending {
            link.endAfterSending(orIn: 1)
        } else if current === link {
            currentEnds = true
        } else {
            link.kill()
        }
    }
}

// MARK: What libwebsockets says

extension ClientLoop {
    /// - Returns: 0, or −1 when the connection is to end.
    func happened(
        _ reason: lws_callback_reasons, to wsi: OpaquePointer, user: UnsafeMutableRawPointer?,
        bytes: UnsafeMutableRawPointer?, count: Int
    ) -> Int32 {
        let number = unsafe Int(bitPattern: lws_get_opaque_user_data(wsi))
        guard let link = link(number) else { return 0 }
        unsafe link.begin(wsi)
        let outer = (current, currentEnds)
        (current, currentEnds) = (link, false)
        defer { (current, currentEnds) = outer }
        switch reason {
        case LWS_CALLBACK_WSI_CREATE:
            link.setUserTimeout(userTimeout)
            happened(.connection(number, .tcpConnected))
        case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
            guard let store = unsafe user else { return -1 }
            return isTrusted(unsafe CertificateCheck(store: store, isGood: count != 0), link) ? 0 : -1
        case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
            happened(.connection(number, .requesting))
            guard unsafe append(link.request.lines, to: bytes, room: count) else { return -1 }
        case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
            let answer = HandshakeAnswer(
                link.answerHead(), expectedAccept: link.request.expectedAccept, now: currentTime())
            happened(.connection(number, .answered(answer)))
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP:
            guard link.receive() else { return -1 }
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
            guard let bytes = unsafe bytes else { return 0 }
            let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
            read(unsafe buffer.bindMemory(to: UInt8.self).span, link)
        case LWS_CALLBACK_CLIENT_HTTP_WRITEABLE:
            guard link.write() else { return -1 }
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            if state.step == .asking { link.readAlert() }
            ended(link, unsafe text(bytes, count))
        case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
            if state.step == .asking { link.readAlert() }
            ended(link, "")
        case LWS_CALLBACK_WSI_DESTROY:
            ended(link, "")
        // The body is over, which a WebSocket's never is while the connection is there.
        case LWS_CALLBACK_COMPLETED_CLIENT_HTTP: return -1
        default: break
        }
        return currentEnds ? -1 : 0
    }

    private func isTrusted(_ check: CertificateCheck, _ link: ClientLink) -> Bool {
        if configuration.tls.skipsVerification {
            check.accept()
            return true
        }
        let address = link.dial.address
        link.certificateFault = check.verdict(ipAddress: address.isIPv6 ? address.host : nil)
            .map { "the server's certificate: \($0)" }
        return link.certificateFault == nil
    }

    private func read(_ bytes: Span<UInt8>, _ link: ClientLink) {
        // Taken out, because what it reads can make us give the connection up.
        guard var reader = link.reader.take() else { return }
        let now = monotonicTime()
        let isOpen = state.isOpen
        state.received(at: now)
        var hasMessage = false
        do throws(ProtocolViolation) {
            try reader.read(
                bytes,
                onMessage: { kind, message in
                    hasMessage = true
                    if isOpen { onMessage(kind, message) }
                },
                onControl: { control in
                    switch control {
                    case .ping(let payload): link.send(.pong, payload)
                    case .pong: break
                    case .close(let frame): happened(.connection(link.number, .closeFrame(frame)))
                    }
                })
        } catch {
            happened(.connection(link.number, .violation(error)))
        }
        if hasMessage { state.receivedMessage(at: now) }
        if !link.isEnding { link.reader = consume reader }
    }

    /// In flight to a dead peer, nothing should last longer than a ping would.
    private var userTimeout: Duration {
        let limits = (configuration.pingInterval, configuration.pongTimeout)
        return limits.0 > .zero && limits.1 > .zero ? limits.0 + limits.1 : .seconds(30)
    }

    /// Into libwebsockets' buffer, of which `position` is a pointer to the pointer to the free part.
    private func append(_ lines: [UInt8], to position: UnsafeMutableRawPointer?, room: Int) -> Bool {
        guard let position = unsafe position, lines.count <= room else {
            let detail = "the handshake's headers are longer than \(room) bytes"
            happened(.connection(state.number, .answered(.refused(detail: detail, retryAfter: nil))))
            return false
        }
        let free = unsafe position.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>.self)
        unsafe free.pointee.update(from: lines, count: lines.count)
        unsafe free.pointee += lines.count
        return true
    }

    private func text(_ bytes: UnsafeMutableRawPointer?, _ count: Int) -> String {
        guard let bytes = unsafe bytes else { return "" }
        let words = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        return unsafe String(decoding: words.prefix { $0 != 0 }, as: UTF8.self)
    }
}
