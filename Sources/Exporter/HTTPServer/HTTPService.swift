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
    func connectionBegan(_ handle: MHDConnection) -> HTTPConnection? {
        guard let connection = connections[handle.socket] else { return nil }
        connection.handle = handle
        if !connection.isHeartbeat, let tls = active.withLock({ $0 }).tls, let session = unsafe handle.tlsSession {
            connection.tls = tls
            unsafe tls.adopt(session)
            let handshake = unsafe TLSHandshake(session, of: connection, as: tls, within: handshakes) {
                [configuration] failure in
                configuration.meter.countTLSHandshakeFailure()
                configuration.onTLSHandshakeFailure(failure)
            }
            handshake.follow()
        }
        return connection
    }

    func connectionEnded(_ connection: HTTPConnection) {
        connections.remove(connection)
        if connection.isHeartbeat { heartbeat.end() }
    }

    // MARK: - A request

    /// The request line has come; the header has not.
    func requestBegan(_ target: MHDRequestTarget, on connection: HTTPConnection) {
        connection.target = target.parsed(limit: limits.maximumTargetBytes)
        connection.targetBytes = target.count
        connection.phase = .header
        connection.status = nil
        connection.setDeadline(monotonicTime() + limits.requestTimeout)
        target.hideQuery()
        if !connection.handle.hideContent() { connection.hangUp() }
    }

    /// One call of the access handler: when the header has come, when the request is over, and when a password has been
    /// checked.
    func requestArrived(_ line: MHDRequestLine, on connection: HTTPConnection) -> MHD_Result {
        switch connection.phase {
        case .idle, .header:
            // A response now is the connection's last: what follows is not read, as it may not be what it seems.
            let (framing, fields) = connection.handle.header(line, targetBytes: connection.targetBytes)
            if let refusal = refusal(of: connection) ?? framing.refusal(needsHost: line.needsHost) {
                requestStarted(on: connection)
                return send(configuration.refuse(refusal, connection.target.path), on: connection)
            }
            guard case .valid(let path, let query) = connection.target else {
                preconditionFailure("another target was refused")
            }
            let request = HTTPRequest(method: line.methodText, path: path, query: query, fields: fields)
            connection.request = request
            if framing.hasContent { return respond(to: request, on: connection) }
            connection.phase = .complete
            return .YES
        case .complete: return connection.request.map { respond(to: $0, on: connection) } ?? .NO
        case .suspended: return resumed(connection)
        case .sending, .streaming: return .YES
        }
    }

    private func requestStarted(on connection: HTTPConnection) {
        connection.phase = .sending
        requestsUnderWay.add(1, ordering: .sequentiallyConsistent)
    }

    private func refusal(of connection: HTTPConnection) -> HTTPRefusal? {
        switch connection.target {
        case .malformed: HTTPRefusal(400, "the request target is malformed")
        case .tooLong: HTTPRefusal(414, "the request target is longer than \(limits.maximumTargetBytes) bytes")
        case .valid where connection.handle.headerBytes > HTTPLimits.maximumHeaderBytes:
            HTTPRefusal(431, "the request's header is longer than \(HTTPLimits.maximumHeaderBytes) bytes")
        case .valid where connection.handle.fieldCount > HTTPLimits.maximumFields + MHDConnection.hiddenFieldCount:
            HTTPRefusal(431, "the request's header has more than \(HTTPLimits.maximumFields) fields")
        case .valid: nil
        }
    }

    private func respond(to request: HTTPRequest, on connection: HTTPConnection) -> MHD_Result {
        requestStarted(on: connection)
        guard let response = response(to: request, on: connection) else { return .YES }
        return send(response, on: connection)
    }

    /// Nil when it is made, or the password checked, on another thread first.
    private func response(to request: HTTPRequest, on connection: HTTPConnection) -> HTTPResponse? {
        let path = request.path
        let active = active.withLock { $0 }
        guard active.admitsRequest() else { return configuration.refuse(HTTPRefusal(429, "too many requests"), path) }
        if configuration.isPublic(path) { return route(request, on: connection) }
        switch active.access(authorization: request.header("Authorization")) {
        case .granted: return route(request, on: connection)
        case .denied: return configuration.refuse(.unauthorized, path)
        case .needsPassword(let check):
            switch passwords.known(check) {
            case true: return route(request, on: connection)
            case false: return configuration.refuse(.unauthorized, path)
            case nil:
                let busy = HTTPRefusal.busy("too many passwords to check at once")
                suspend(connection, on: passwordQueue, .seconds(60), overdue: busy) { [passwords] in
                    .isPasswordRight(passwords.verdict(on: check))
                }
                return nil
            }
        }
    }

    /// Nil when it is made on another thread.
    private func route(_ request: HTTPRequest, on connection: HTTPConnection) -> HTTPResponse? {
        let handling = configuration.handling(request)
        if handling.isMetered {
            connection.isMetered = true
            meter.requestStarted()
        }
        if let permits = handling.permits {
            guard acquire(permits, weight: handling.weight, for: connection) else {
                return configuration.refuse(permits.refusal, request.path)
            }
            connection.permits = permits
        }
        guard let queue = handling.queue else { return onRequest(request) }
        suspend(connection, on: queue, handling.timeLimit, overdue: handling.overdue) { [onRequest] in
            .response(onRequest(request))
        }
        return nil
    }

    /// Lets the connection sleep until the work for its request is done. It is not done when the client has gone before.
    private func suspend(
        _ connection: HTTPConnection, on queue: WorkQueue, _ timeLimit: Duration,
        overdue: HTTPRefusal, _ work: @escaping @Sendable () -> HTTPSuspension.Outcome
    ) {
        let path = connection.target.path
        let suspension = HTTPSuspension(connection, timeLimit: timeLimit) { [configuration] in
            configuration.refuse(overdue, path)
        }
        connection.phase = .suspended
        connection.suspension = suspension
        // Nothing is sent or read, and the suspension has a limit of its own.
        connection.setDeadline(nil)
        connections.insert(.request(suspension), on: connection)
        let isAccepted = queue.submit(for: connection.peer.client) {
            if suspension.isWanted() { suspension.finish(work()) }
        }
        if !isAccepted { suspension.finish(.response(configuration.refuse(overdue, path))) }
    }

    /// The work is done, or there is no need for it any more.
    private func resumed(_ connection: HTTPConnection) -> MHD_Result {
        guard let request = connection.request, let outcome = connection.suspension?.takeOutcome() else { return .NO }
        connections.removeSleeper(of: connection)
        connection.suspension = nil
        connection.phase = .sending
        switch outcome {
        case .abandoned: return .NO
        case .response(let response): return send(response, on: connection)
        case .isPasswordRight(false): return send(configuration.refuse(.unauthorized, request.path), on: connection)
        case .isPasswordRight(true):
            guard let response = route(request, on: connection) else { return .YES }
            return send(response, on: connection)
        }
    }

    /// Whether there is a permit for the request, or another one makes room.
    private func acquire(_ permits: RequestPermits, weight: Int, for connection: HTTPConnection) -> Bool {
        let share = share(of: connection, weight: weight)
        guard let victims = permits.acquire(share, isSlow: { isSlow($0, at: share.since) }) else { return false }
        evict(victims)
        return true
    }

    /// Whether there is room for the content, or other responses make room.
    private func hold(_ content: LargeContent, for connection: HTTPConnection) -> Bool {
        let share = share(of: connection, weight: content.count, thing: content.identity)
        let victims = unsent.withLock { $0.acquire(share, isSlow: { isSlow($0, at: share.since) }) }
        guard let victims else { return false }
        connection.content = content
        evict(victims)
        return true
    }

    private func share(of connection: HTTPConnection, weight: Int, thing: Int? = nil) -> FairShares.Share {
        .init(
            socket: connection.socket, client: connection.peer.client, since: monotonicTime(), weight: weight,
            thing: thing)
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

    private func send(_ response: HTTPResponse, on connection: HTTPConnection) -> MHD_Result {
        var response = response
        var content: LargeContent?
        connection.sentBytes = 0
        if response.contentBytes > HTTPResponse.maximumCopiedBytes {
            let large = LargeContent(response.body.pieces, on: connection)
            if connection.isHead || hold(large, for: connection) {
                content = large
            } else {
                response = configuration.refuse(.busy("too many bytes of responses are unread"), connection.target.path)
            }
        }
        let allowance = Duration.seconds(response.contentBytes) / limits.minimumRate
        connection.setDeadline(monotonicTime() + limits.responseTimeout + allowance)
        connection.status = response.status
        if case .stream(let stream) = response.body { begin(stream, on: connection) }
        return response.queue(content, on: connection, extra: active.withLock { $0 }.headers)
    }

    private func begin(_ stream: HTTPStream, on connection: HTTPConnection) {
        if stream.isEndless {
            connection.phase = .streaming
            requestFinished(on: connection)
            connection.limitSendBuffer()
        }
        stream.begin(on: connection, limits)
        connections.insert(.stream(stream), on: connection)
    }

    /// The request has ended in whatever way; its content may still be in the kernel's buffers.
    func requestEnded(on connection: HTTPConnection) {
        if connection.isMetered {
            connection.isMetered = false
            meter.requestFinished(status: connection.status)
        }
        connection.permits?.release(socket: connection.socket)
        connection.permits = nil
        // What was made for it and not sent.
        connection.suspension?.takeOutcome()?.discard()
        connection.suspension = nil
        if connection.sleeper != nil { connections.removeSleeper(of: connection) }
        if connection.content != nil {
            connection.content = nil
            unsent.withLock { $0.release(socket: connection.socket) }
        }
        if connection.phase == .sending || connection.phase == .suspended { requestFinished(on: connection) }
        connection.phase = .idle
        connection.request = nil
        connection.setDeadline(monotonicTime() + limits.idleTimeout)
    }

    private func requestFinished(on connection: HTTPConnection) {
        // This function and `drain` each write before they read, so at least one of them sees both that the server is
        // draining and that the last request has ended.
        let left = requestsUnderWay.subtract(1, ordering: .sequentiallyConsistent).newValue
        guard isDraining.load(ordering: .sequentiallyConsistent) else { return }
        // What is queued is still sent; the next request would be one too many.
        connection.hangUp()
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
        connections.endEvents()
        let deadline = monotonicTime() + limit
        while requestsUnderWay.load(ordering: .sequentiallyConsistent) > 0 {
            let left = deadline - monotonicTime()
            guard left > .zero, !drained.wait(left) else { return }
        }
    }

    /// Resumes all connections: a daemon cannot stop while one is suspended.
    func endSuspensions() { connections.endSleepers() }

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
