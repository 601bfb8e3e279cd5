internal import Bytes
internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization
internal import System
internal import WebConfiguration

/// The side of the server that libmicrohttpd's callbacks call: the life of each request, from its first line to its end.
final class HTTPService: Sendable {
    private let configuration: HTTPServerConfiguration
    private let onRequest: @Sendable (HTTPRequest) -> HTTPResponse
    private let active: Mutex<ActiveWebConfiguration>
    let handshakes = HandshakeQuota()
    private let passwords = PasswordVerdicts()
    /// Separate from responses, so that guessing passwords does not delay clients that have one.
    private let passwordQueue = WorkQueue(name: "http-password", limit: 256, limitPerClient: 64)
    /// Requests that have come in whole and are not over.
    private let requestsUnderWay = Atomic(0)
    private let isDraining = Atomic(false)
    /// Large responses that are not sent in whole, by their bytes.
    private let unsent = Mutex(FairShares(limit: unsentBudget, largest: unsentBudget / 2))
    /// With the usual limit of a container, 256 MiB, this leaves room for the cities and a large message. As much again
    /// may be in the kernel: see `HTTPConnections.limitUnacknowledged`. A response counts as half of it at most, so that
    /// there is room for two of any size.
    static let unsentBudget = 64 << 20
    var meter: HTTPMeter { configuration.meter }
    private var limits: HTTPLimits { configuration.limits }
    let connections: HTTPConnections
    let heartbeat = HTTPHeartbeat()
    /// Woken when the last request under way has ended after `drain`.
    let drained: WakePipe

    init(
        configuration: HTTPServerConfiguration, onRequest: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws(SystemError) {
        var configuration = configuration
        configuration.limits.minimumRate = max(configuration.limits.minimumRate, 1)
        self.configuration = configuration
        active = Mutex(try ActiveWebConfiguration(configuration.web, replacing: nil))
        connections = HTTPConnections(limits: configuration.limits)
        drained = try WakePipe()
        self.onRequest = onRequest
    }

    // MARK: - A connection

    /// A connection that was accepted.
    func connection(on socket: Int32, from peer: IPAddress) -> HTTPConnection {
        HTTPConnection(socket: socket, peer: peer, deadline: monotonicTime() + limits.requestTimeout)
    }

    /// libmicrohttpd has begun to serve the connection. Nil when it has been forgotten.
    func connectionBegan(_ connection: MHDConnection) -> HTTPConnection? {
        guard let state = connections[connection.socket] else { return nil }
        if !state.isHeartbeat, let tls = active.withLock({ $0 }).tls, let session = unsafe connection.tlsSession {
            state.tls = tls
            unsafe tls.adopt(session)
            unsafe TLSHandshake.follow(session, of: state, as: tls, within: handshakes) { [configuration] failure in
                configuration.meter.countTLSHandshakeFailure()
                configuration.onTLSHandshakeFailure(failure)
            }
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
        state.setDeadline(monotonicTime() + limits.requestTimeout)
        target.hideQuery()
        if !connection.hideContent() { state.hangUp() }
    }

    /// One call of the access handler: when the header has come, when the request is over, and when a password has been
    /// checked.
    func requestArrived(_ line: MHDRequestLine, on state: HTTPConnection, _ connection: MHDConnection) -> MHD_Result {
        switch state.phase {
        case .idle, .header:
            state.headerBytes = connection.headerBytes
            // A response now is the connection's last: what follows is not read, as it may not be what it seems.
            let (framing, fields) = connection.header(line, targetBytes: state.targetBytes)
            state.fields = fields
            if let refusal = refusal(of: state, connection) ?? framing.refusal(needsHost: line.needsHost) {
                requestStarted(on: state)
                return send(configuration.refuse(refusal, state.target.path), on: state, connection)
            }
            if framing.hasContent { return respond(method: line.methodText, to: state, connection) }
            state.phase = .complete
            return .YES
        case .complete: return respond(method: line.methodText, to: state, connection)
        case .suspended: return resumed(method: line.methodText, state, connection)
        case .sending, .streaming: return .YES
        }
    }

    private func requestStarted(on state: HTTPConnection) {
        state.phase = .sending
        requestsUnderWay.add(1, ordering: .sequentiallyConsistent)
    }

    private func refusal(of state: HTTPConnection, _ connection: MHDConnection) -> HTTPRefusal? {
        switch state.target {
        case .malformed: HTTPRefusal(400, "the request target is malformed")
        case .tooLong: HTTPRefusal(414, "the request target is longer than \(limits.maximumTargetBytes) bytes")
        case .valid where state.headerBytes > HTTPLimits.maximumHeaderBytes:
            HTTPRefusal(431, "the request's header is longer than \(HTTPLimits.maximumHeaderBytes) bytes")
        case .valid where connection.fieldCount > HTTPLimits.maximumFields + MHDConnection.hiddenFieldCount:
            HTTPRefusal(431, "the request's header has more than \(HTTPLimits.maximumFields) fields")
        case .valid: nil
        }
    }

    private func respond(method: String, to state: HTTPConnection, _ connection: MHDConnection) -> MHD_Result {
        requestStarted(on: state)
        state.isHead = method == "HEAD"
        guard let response = response(method: method, state, connection) else { return .YES }
        return send(response, on: state, connection)
    }

    /// Nil when it is made, or the password checked, on another thread first.
    private func response(method: String, _ state: HTTPConnection, _ connection: MHDConnection) -> HTTPResponse? {
        guard case .valid(let path, let query) = state.target else { preconditionFailure("it was refused before") }
        let active = active.withLock { $0 }
        guard active.admitsRequest() else { return configuration.refuse(HTTPRefusal(429, "too many requests"), path) }
        if configuration.isPublic(path) { return route(method, path, query, state, connection) }
        switch active.access(authorization: state.fields.joined("Authorization")) {
        case .granted: return route(method, path, query, state, connection)
        case .denied: return configuration.refuse(.unauthorized, path)
        case .needsPassword(let check):
            switch passwords.known(check) {
            case true: return route(method, path, query, state, connection)
            case false: return configuration.refuse(.unauthorized, path)
            case nil:
                let busy = HTTPRefusal.busy("too many passwords to check at once")
                suspend(state, connection, on: passwordQueue, .seconds(60), overdue: busy) { [passwords] in
                    .isPasswordRight(passwords.verdict(on: check))
                }
                return nil
            }
        }
    }

    /// Nil when it is made on another thread.
    private func route(
        _ method: String, _ path: String, _ query: String, _ state: HTTPConnection, _ connection: MHDConnection
    ) -> HTTPResponse? {
        let request = HTTPRequest(method: method, path: path, query: query, fields: state.fields)
        let handling = configuration.handling(request)
        if handling.isMetered {
            state.isMetered = true
            meter.requestStarted()
        }
        if let permits = handling.permits {
            guard acquire(permits, weight: handling.weight, for: state) else {
                return configuration.refuse(permits.refusal, path)
            }
            state.permits = permits
        }
        guard let queue = handling.queue else { return onRequest(request) }
        suspend(state, connection, on: queue, handling.timeLimit, overdue: handling.overdue) { [onRequest] in
            .response(onRequest(request))
        }
        return nil
    }

    /// Lets the connection sleep until the work for its request is done. It is not done when the client has gone before.
    private func suspend(
        _ state: HTTPConnection, _ connection: MHDConnection, on queue: WorkQueue, _ timeLimit: Duration,
        overdue: HTTPRefusal, _ work: @escaping @Sendable () -> HTTPSuspension.Outcome
    ) {
        let path = state.target.path
        let suspension = HTTPSuspension(connection, socket: state.socket, timeLimit: timeLimit) { [configuration] in
            configuration.refuse(overdue, path)
        }
        state.phase = .suspended
        state.suspension = suspension
        // Nothing is sent or read, and the suspension has a limit of its own.
        state.setDeadline(nil)
        connections.suspensions.insert(.request(suspension), on: state.socket)
        let isAccepted = queue.submit(for: state.peer.client) {
            if suspension.isWanted() { suspension.finish(work()) }
        }
        if !isAccepted { suspension.finish(.response(configuration.refuse(overdue, path))) }
    }

    /// The work is done, or there is no need for it any more.
    private func resumed(method: String, _ state: HTTPConnection, _ connection: MHDConnection) -> MHD_Result {
        guard case .valid(let path, let query) = state.target, let outcome = state.suspension?.takeOutcome() else {
            return .NO
        }
        connections.suspensions.remove(on: state.socket)
        state.suspension = nil
        state.phase = .sending
        switch outcome {
        case .abandoned: return .NO
        case .response(let response): return send(response, on: state, connection)
        case .isPasswordRight(false): return send(configuration.refuse(.unauthorized, path), on: state, connection)
        case .isPasswordRight(true):
            guard let response = route(method, path, query, state, connection) else { return .YES }
            return send(response, on: state, connection)
        }
    }

    /// Whether there is a permit for the request, or another one makes room.
    private func acquire(_ permits: RequestPermits, weight: Int, for state: HTTPConnection) -> Bool {
        let share = share(of: state, weight: weight)
        guard let victims = permits.acquire(share, isSlow: { isSlow($0, at: share.since) }) else { return false }
        evict(victims)
        return true
    }

    /// Whether there is room for the content, or other responses make room.
    private func hold(_ content: LargeContent, for state: HTTPConnection) -> Bool {
        let share = share(of: state, weight: content.count, thing: content.identity)
        let victims = unsent.withLock { $0.acquire(share, isSlow: { isSlow($0, at: share.since) }) }
        guard let victims else { return false }
        state.content = content
        evict(victims)
        return true
    }

    private func share(of state: HTTPConnection, weight: Int, thing: Int? = nil) -> FairShares.Share {
        .init(socket: state.socket, client: state.peer.client, since: monotonicTime(), weight: weight, thing: thing)
    }

    private func isSlow(_ share: FairShares.Share, at now: Duration) -> Bool {
        guard let connection = connections[share.socket], connection.phase == .sending else { return false }
        return connection.isSlow(since: share.since, minimumRate: limits.minimumRate, now: now)
    }

    private func evict(_ victims: [FairShares.Share]) {
        for victim in victims {
            guard let connection = connections[victim.socket] else { continue }
            connection.abort()
            connection.suspension?.finish(.abandoned)
            connection.content?.drop()
        }
    }

    private func send(_ response: HTTPResponse, on state: HTTPConnection, _ connection: MHDConnection) -> MHD_Result {
        var response = response
        var content: LargeContent?
        state.sentBytes = 0
        if response.contentBytes > HTTPResponse.maximumCopiedBytes {
            let large = LargeContent(response.body.pieces, on: state)
            if state.isHead || hold(large, for: state) {
                content = large
            } else {
                response = configuration.refuse(.busy("too many bytes of responses are unread"), state.target.path)
            }
        }
        let allowance = Duration.seconds(response.contentBytes) / limits.minimumRate
        state.setDeadline(monotonicTime() + limits.responseTimeout + allowance)
        state.status = response.status
        if case .stream(let stream) = response.body { begin(stream, on: state, connection) }
        return response.queue(content, on: connection, isHead: state.isHead, extra: active.withLock { $0 }.headers)
    }

    private func begin(_ stream: HTTPStream, on state: HTTPConnection, _ connection: MHDConnection) {
        if stream.isEndless {
            state.phase = .streaming
            requestFinished(on: state)
            state.limitSendBuffer()
            stream.begin(on: state, connection, deadline: .afterPiece(limits.streamTimeout))
        } else {
            let deadline = HTTPStream.SendDeadline.whole(
                begin: monotonicTime(), limit: limits.responseTimeout, minimumRate: limits.minimumRate)
            stream.begin(on: state, connection, deadline: deadline)
        }
        connections.suspensions.insert(.stream(stream), on: state.socket)
    }

    /// The request has ended in whatever way; its content may still be in the kernel's buffers.
    func requestEnded(on state: HTTPConnection) {
        if state.isMetered {
            state.isMetered = false
            meter.requestFinished(status: state.status)
        }
        state.permits?.release(socket: state.socket)
        state.permits = nil
        // What was made for it and not sent.
        state.suspension?.takeOutcome()?.discard()
        state.suspension = nil
        connections.suspensions.remove(on: state.socket)
        if state.content != nil {
            state.content = nil
            unsent.withLock { $0.release(socket: state.socket) }
        }
        if state.phase == .sending || state.phase == .suspended { requestFinished(on: state) }
        state.phase = .idle
        state.headerBytes = 0
        state.fields = HTTPFields()
        state.setDeadline(monotonicTime() + limits.idleTimeout)
    }

    private func requestFinished(on state: HTTPConnection) {
        // This function and `drain` each write before they read, so at least one of them sees both that the server is
        // draining and that the last request has ended.
        let left = requestsUnderWay.subtract(1, ordering: .sequentiallyConsistent).newValue
        guard isDraining.load(ordering: .sequentiallyConsistent) else { return }
        // What is queued is still sent; the next request would be one too many.
        state.hangUp()
        if left == 0 { drained.wake() }
    }

    /// Gives memory back after many bytes were unread, or many connections open: in the allocator it lies between what is
    /// in use. Corresponds to `malloc_trim`; on a thread that nobody waits for.
    func releaseMemory() {
        let hasShrunk = (unsent.withLock { $0.hasShrunk() }, connections.hasShrunk())
        if hasShrunk.0 || hasShrunk.1 { malloc_trim(0) }
    }

    // MARK: - The end

    /// Waits until no request is under way. Connections are closed after the response that they are in.
    func drain(within limit: Duration) {
        isDraining.store(true, ordering: .sequentiallyConsistent)
        connections.suspensions.endEvents()
        let deadline = monotonicTime() + limit
        while requestsUnderWay.load(ordering: .sequentiallyConsistent) > 0 {
            let left = deadline - monotonicTime()
            guard left > .zero, !drained.wait(left) else { return }
        }
    }

    /// Resumes all connections: a daemon cannot stop while one is suspended.
    func endSuspensions() { connections.suspensions.endAll() }

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
