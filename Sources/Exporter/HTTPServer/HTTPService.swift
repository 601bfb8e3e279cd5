internal import Bytes
internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization
internal import System
internal import WebConfiguration

/// What libmicrohttpd's callbacks call: the life of each request, from its first line to its end.
final class HTTPService: Sendable {
    private let limits: HTTPLimits
    private let isMetered: @Sendable (String) -> Bool
    private let onRequest: @Sendable (borrowing HTTPRequest) -> HTTPResponse
    private let refuse: @Sendable (HTTPRefusal, String?) -> HTTPResponse
    private let isPublic: @Sendable (String) -> Bool
    private let onHandshakeFailure: @Sendable (TLSHandshakeFailure) -> Void
    private let active: Mutex<ActiveWebConfiguration>
    private let passwords = PasswordChecker()
    private let timeouts: Timeouts
    /// Of paths that are not metered.
    private let largeAnswers = Mutex(RequestPlaces(limit: HTTPLimits.maximumLargeAnswers))
    private let documents = Mutex(RequestPlaces(limit: HTTPLimits.maximumDocuments))
    /// Requests that have come in whole and are not over.
    private let requestsUnderWay = Atomic(0)
    private let isDraining = Atomic(false)
    private let unsent = Mutex(UnsentResponses())
    let meter: HTTPMeter
    let connections: HTTPConnections
    let heartbeat = HTTPHeartbeat()
    /// Woken when the last request under way has ended after `drain`.
    let drained: WakePipe

    /// Milliseconds.
    private struct Timeouts {
        let request: Int64
        let idle: Int64
        let answer: Int64
        let stream: Int64
        /// For each byte of an answer.
        let perByte: Double

        init(_ limits: HTTPLimits) {
            request = limits.requestTimeout.milliseconds
            idle = limits.idleTimeout.milliseconds
            answer = limits.answerTimeout.milliseconds
            stream = limits.streamTimeout.milliseconds
            perByte = 1000 / Double(max(limits.minimumRate, 1))
        }
    }

    init(
        configuration: HTTPServerConfiguration, onRequest: @escaping @Sendable (borrowing HTTPRequest) -> HTTPResponse
    ) throws(SystemError) {
        limits = configuration.limits
        timeouts = Timeouts(configuration.limits)
        isMetered = configuration.isMetered
        onHandshakeFailure = { [meter = configuration.meter, onFailure = configuration.onTLSHandshakeFailure] failure in
            meter.countTLSHandshakeFailure()
            onFailure(failure)
        }
        isPublic = configuration.isPublic
        refuse = configuration.refuse
        active = Mutex(try ActiveWebConfiguration(configuration.web, replacing: nil))
        meter = configuration.meter
        connections = HTTPConnections(limits: configuration.limits)
        drained = try WakePipe()
        self.onRequest = onRequest
    }

    // MARK: - A connection

    /// A connection that was accepted.
    func connection(on socket: Int32, from peer: PeerAddress) -> HTTPConnection {
        HTTPConnection(socket: socket, peer: peer, deadline: .now + timeouts.request)
    }

    /// libmicrohttpd has begun to serve the connection. Nil when it has been forgotten.
    func connectionBegan(_ connection: MHDConnection) -> HTTPConnection? {
        guard let state = connections[connection.socket] else { return nil }
        if !state.isHeartbeat, let tls = active.withLock({ $0 }).tls, let session = unsafe connection.tlsSession {
            state.tls = tls
            unsafe tls.adopt(session)
            unsafe TLSHandshake.follow(session, of: state, as: tls, onFailure: onHandshakeFailure)
        }
        return state
    }

    func connectionEnded(_ state: HTTPConnection) {
        connections.remove(state)
        if state.isHeartbeat { heartbeat.end() }
    }

    // MARK: - A request

    /// The request line has come; the header has not.
    func requestBegan(_ target: MHDRequestTarget, on state: HTTPConnection, _ connection: MHDConnection) {
        state.target = target.parsed(limit: limits.maximumTargetBytes)
        state.targetBytes = target.count
        state.phase = .header
        state.status = nil
        state.setDeadline(.now + timeouts.request)
        target.hideQuery()
        if !connection.hideContent() { state.hangUp() }
    }

    /// One call of the access handler: when the header has come, when the request is over, and when a password has been
    /// checked.
    func requestArrived(_ line: MHDRequestLine, on state: HTTPConnection, _ connection: MHDConnection) -> MHD_Result {
        switch state.phase {
        case .idle, .header:
            state.headerBytes = connection.headerBytes
            // An answer now is the connection's last: what follows is not read, as it may not be what it seems.
            let framing = connection.framing(line, targetBytes: state.targetBytes)
            if let refusal = refusal(of: state, connection) ?? framing.refusal(needsHost: line.needsHost) {
                countIn(state)
                return answer(refuse(refusal, state.target.path), on: state, connection)
            }
            if framing.hasContent { return respond(method: line.methodText, to: state, connection) }
            state.phase = .complete
            return .YES
        case .complete:
            return respond(method: line.methodText, to: state, connection)
        case .suspended:
            return answer(respondToChecked(method: line.methodText, state, connection), on: state, connection)
        case .answered, .streaming:
            return .YES
        }
    }

    private func countIn(_ state: HTTPConnection) {
        state.phase = .answered
        requestsUnderWay.add(1, ordering: .sequentiallyConsistent)
    }

    private func refusal(of state: HTTPConnection, _ connection: MHDConnection) -> HTTPRefusal? {
        switch state.target {
        case .malformed:
            HTTPRefusal(400, "the request target is malformed")
        case .tooLong:
            HTTPRefusal(414, "the request target is longer than \(limits.maximumTargetBytes) bytes")
        case .valid where state.headerBytes > HTTPLimits.maximumHeaderBytes:
            HTTPRefusal(431, "the request's header is longer than \(HTTPLimits.maximumHeaderBytes) bytes")
        case .valid where connection.fieldCount > HTTPLimits.maximumFields + MHDConnection.hiddenFieldCount:
            HTTPRefusal(431, "the request's header has more than \(HTTPLimits.maximumFields) fields")
        case .valid: nil
        }
    }

    private func respond(method: String, to state: HTTPConnection, _ connection: MHDConnection) -> MHD_Result {
        countIn(state)
        state.isHead = method == "HEAD"
        guard let response = response(method: method, state, connection) else { return .YES }
        return answer(response, on: state, connection)
    }

    /// Nil when a password has to be checked first.
    private func response(method: String, _ state: HTTPConnection, _ connection: MHDConnection) -> HTTPResponse? {
        guard case .valid(let path, let query) = state.target else { preconditionFailure("it was refused before") }
        let active = active.withLock { $0 }
        guard active.admitsRequest() else { return refuse(HTTPRefusal(429, "too many requests"), path) }
        let request = HTTPRequest(method: method, path: path, query: query, connection: connection)
        if isPublic(path) { return route(request, state) }
        switch active.entrance(authorization: request.header("Authorization")) {
        case .open: return route(request, state)
        case .closed: return refuse(.unauthorized, path)
        case .password(let check):
            switch passwords.known(check) {
            case true: return route(request, state)
            case false: return refuse(.unauthorized, path)
            case nil:
                suspend(state, connection, until: check)
                return nil
            }
        }
    }

    private func suspend(_ state: HTTPConnection, _ connection: MHDConnection, until check: CredentialCheck) {
        state.phase = .suspended
        state.verdict.store(.unavailable, ordering: .releasing)
        // Before the check is submitted: resumed first, the connection would wait for ever.
        connection.suspend()
        let isSubmitted = passwords.submit(check) { verdict in
            if let verdict { state.verdict.store(verdict ? .accepted : .refused, ordering: .releasing) }
            connection.resume()
        }
        if !isSubmitted { connection.resume() }
    }

    private func respondToChecked(
        method: String, _ state: HTTPConnection, _ connection: MHDConnection
    ) -> HTTPResponse {
        state.phase = .answered
        guard case .valid(let path, let query) = state.target else { preconditionFailure("it was read before") }
        switch state.verdict.load(ordering: .acquiring) {
        case .accepted:
            return route(HTTPRequest(method: method, path: path, query: query, connection: connection), state)
        case .refused: return refuse(.unauthorized, path)
        case .unavailable: return refuse(.busy("too many passwords to check at once"), path)
        }
    }

    private func route(_ request: borrowing HTTPRequest, _ state: HTTPConnection) -> HTTPResponse {
        if isMetered(request.path) {
            state.isMetered = true
            guard isAdmitted(state, { meter.begin($0, isSlow: $1) }) else {
                return refuse(.busy("too many requests for this path at once"), request.path)
            }
            return onRequest(request)
        }
        let response = onRequest(request)
        if case .stream(let stream) = response.body, stream.isDocument {
            state.isDocument = isAdmitted(state) { place, isSlow in
                documents.withLock { $0.take(place, isSlow: isSlow) }
            }
            return state.isDocument ? response : refuse(.busy("too many large answers at once"), request.path)
        }
        guard response.contentBytes > HTTPLimits.minimumLargeAnswer else { return response }
        state.isLarge = isAdmitted(state) { place, isSlow in
            largeAnswers.withLock { $0.take(place, isSlow: isSlow) }
        }
        return state.isLarge ? response : refuse(.busy("too many large answers at once"), request.path)
    }

    /// Whether there is a place for the answer, or another one makes room.
    private func isAdmitted(
        _ state: HTTPConnection,
        _ take: (RequestPlaces.Place, (RequestPlaces.Place) -> Bool) -> RequestPlaces.Admission
    ) -> Bool {
        let now = CoarseTime.now
        let place = RequestPlaces.Place(socket: state.socket, client: state.peer.client, since: now)
        let admission = take(place) { place in
            connections[place.socket]?.isSlow(since: place.since, minimumRate: limits.minimumRate, now: now) ?? false
        }
        if case .admittedInsteadOf(let other) = admission { connections[other.socket]?.abort() }
        return admission != .refused
    }

    private func answer(
        _ response: HTTPResponse, on state: HTTPConnection, _ connection: MHDConnection
    ) -> MHD_Result {
        var response = response
        var content: LargeContent?
        state.sentBytes = 0
        if response.contentBytes > HTTPResponse.maximumCopiedBytes {
            let large = LargeContent(response.body.pieces, on: state)
            if state.isHead || hold(large, for: state) {
                content = large
            } else {
                response = refuse(.busy("too many bytes of responses are unread"), state.target.path)
            }
        }
        let allowance = Int64(Double(response.contentBytes) * timeouts.perByte)
        state.setDeadline(.now + timeouts.answer + allowance)
        state.status = response.status
        if case .stream(let stream) = response.body { begin(stream, on: state, connection) }
        return response.queue(content, on: connection, isHead: state.isHead, extra: active.withLock { $0 }.headers)
    }

    /// Whether there is room for the content, or other responses make room.
    private func hold(_ content: LargeContent, for state: HTTPConnection) -> Bool {
        let now = CoarseTime.now
        let entry = UnsentResponses.Entry(socket: state.socket, client: state.peer.client, since: now, content: content)
        let victims = unsent.withLock { unsent in
            unsent.admit(entry) { entry in
                connections[entry.socket]?.isSlow(since: entry.since, minimumRate: limits.minimumRate, now: now)
                    ?? false
            }
        }
        guard let victims else { return false }
        state.holdsContent = true
        for victim in victims {
            connections[victim.socket]?.abort()
            victim.content.drop()
        }
        return true
    }

    private func begin(_ stream: HTTPStream, on state: HTTPConnection, _ connection: MHDConnection) {
        if stream.isDocument {
            let whole = (since: CoarseTime.now, time: timeouts.answer, perByte: timeouts.perByte)
            stream.begin(on: state, connection, patience: HTTPStream.Patience(whole: whole))
            connections.streams.insert(stream, on: state.socket)
            return
        }
        state.phase = .streaming
        countOut(state)
        state.limitSendBuffer()
        stream.begin(on: state, connection, patience: HTTPStream.Patience(perPiece: timeouts.stream))
        connections.streams.insert(stream, on: state.socket)
    }

    /// The request has ended in whatever way; its content may still be in the kernel's buffers.
    func requestEnded(on state: HTTPConnection) {
        if state.isMetered {
            state.isMetered = false
            meter.end(socket: state.socket, status: state.status)
        }
        if state.isLarge {
            state.isLarge = false
            largeAnswers.withLock { $0.release(socket: state.socket) }
        }
        if state.isDocument {
            state.isDocument = false
            connections.streams.remove(on: state.socket)
            documents.withLock { $0.release(socket: state.socket) }
        }
        if state.holdsContent {
            state.holdsContent = false
            unsent.withLock { $0.release(socket: state.socket) }
        }
        if state.phase == .answered || state.phase == .suspended { countOut(state) }
        if state.phase == .streaming { connections.streams.remove(on: state.socket) }
        state.phase = .idle
        state.headerBytes = 0
        state.setDeadline(.now + timeouts.idle)
    }

    private func countOut(_ state: HTTPConnection) {
        // This function and `drain` each write before they read, so at least one of them sees both that the server is
        // draining and that the last request has ended.
        let left = requestsUnderWay.subtract(1, ordering: .sequentiallyConsistent).newValue
        guard isDraining.load(ordering: .sequentiallyConsistent) else { return }
        // What is queued is still sent; the next request would be one too many.
        state.hangUp()
        if left == 0 { drained.wake() }
    }

    /// Gives memory back after many bytes were unread: in the allocator it lies between what is in use. Corresponds to
    /// `malloc_trim`; on a thread that nobody waits for.
    func releaseMemory() {
        if unsent.withLock({ $0.hasShrunk() }) { malloc_trim(0) }
    }

    // MARK: - The end

    /// Waits until no request is under way. Connections are closed after the answer that they are in.
    func drain(within limit: Duration) {
        isDraining.store(true, ordering: .sequentiallyConsistent)
        connections.streams.endEvents()
        let deadline = monotonicTime() + limit
        while requestsUnderWay.load(ordering: .sequentiallyConsistent) > 0 {
            let left = deadline - monotonicTime()
            guard left > .zero, !drained.wait(left) else { return }
        }
    }

    /// Resumes all connections: a daemon cannot stop while one is suspended.
    func endSuspensions() {
        passwords.stop()
        connections.streams.endDocuments()
    }

    // MARK: - The web configuration

    /// Connections and requests that begin from now on follow this one.
    func adopt(_ configuration: WebConfiguration) throws(SystemError) {
        let current = active.withLock { $0 }
        guard (current.tls == nil) == (configuration.tls == nil) else {
            throw SystemError(.configuration, "turning TLS on or off needs a restart")
        }
        let next = try ActiveWebConfiguration(configuration, replacing: current)
        active.withLock { $0 = next }
    }
}
