internal import CLibMicroHTTPD
internal import HTTPText
internal import System

/// Handles libmicrohttpd's callbacks: the life of each connection and request. Except at the beginning and the end of
/// a connection, they come from its own thread.
final class HTTPService: Sendable {
    private let configuration: HTTPServerConfiguration
    private let active: Monitor<Active>
    let passwords = PasswordChecks()
    /// Clients with a TLS handshake that is computing; see `TLSHandshake`.
    let computing = Monitor<Set<[UInt8]>>([])
    /// Limit on content that waits to be sent without having been copied.
    private let unsent = RequestLimit(
        HTTPLimits.unsentBytes, perClient: HTTPLimits.unsentBytesPerClient,
        waiting: HTTPLimits.unsentBytesPerClient, patience: HTTPLimits.unsentPatience, eviction: .slowestReader,
        rejection: .busy("too many bytes of responses are unread"))
    let connections = ConnectionTable()

    private struct Active {
        var access: HTTPAccess
        /// Tokens of the rate limit; `nil` if there is no limit.
        var bucket: TokenBucket?

        init(_ access: HTTPAccess) {
            self.access = access
            let noSniffing = HTTPField(name: "X-Content-Type-Options", value: "nosniff")
            if !access.headers.contains(noSniffing) { self.access.headers.append(noSniffing) }
            bucket = access.rateLimit.map { TokenBucket($0.burst, each: $0.interval) }
        }
    }

    init(configuration: HTTPServerConfiguration) {
        self.configuration = configuration
        active = Monitor(Active(configuration.access))
    }

    /// Applies the access to connections and requests that begin from now on.
    func adopt(_ access: HTTPAccess) throws(SystemError) {
        guard (configuration.access.tls == nil) == (access.tls == nil) else {
            throw SystemError(.system, "turning TLS on or off needs a restart")
        }
        active.change { active in
            let known = active
            active = Active(access)
            // A reload without a change of the limit does not let a client begin anew.
            if known.access.rateLimit == access.rateLimit { active.bucket = known.bucket }
        }
    }

    // MARK: - Connections

    /// Called when libmicrohttpd starts to serve a connection that `connections` has admitted.
    func connectionBegan(_ pointer: OpaquePointer) -> HTTPConnection {
        let connection = unsafe HTTPConnection(pointer, tls: active.read(\.access.tls), computing: computing)
        connections.insert(connection)
        connection.isPaced = connections.hasMany(connection.client)
        return connection
    }

    func connectionEnded(_ connection: HTTPConnection) {
        connections.remove(connection)
        let isOverdue = connection.progress.isOverdue(at: monotonicTime())
        guard let reason = connection.tls?.end(isOverdue: isOverdue) else { return }
        configuration.onTLSHandshakeFailure(connection.peer.description, reason)
    }

    // MARK: - Requests

    /// Called when the request line has arrived, but not yet the header fields.
    func requestBegan(_ target: [UInt8], on connection: HTTPConnection) {
        // The first request's time runs from the start of the connection.
        if case .betweenRequests = connection.phase {
            connection.progress.deadline = monotonicTime() + HTTPLimits.requestTime
        }
        connection.phase = .header(target)
        if unsafe !LibMicroHTTPD.hideContent(of: connection.pointer) { connection.shutDown() }
    }

    /// Called when the header has arrived, and again when the request is complete.
    func requestArrived(_ header: MHDHeader, on connection: HTTPConnection) -> MHD_Result {
        var route: Route?
        do throws(HTTPResponse.Rejection) {
            var request: HTTPRequest
            switch connection.phase {
            case .header(let target):
                request = try HTTPRequest(method: header.methodText, target: target)
                route = configuration.routes.first { [path = request.path] in $0.matches(path) }
                guard target.count <= HTTPLimits.targetBytes else {
                    throw .init(
                        status: 414, line: "the request target is longer than \(HTTPLimits.targetBytes) bytes")
                }
                request.fields = try unsafe header.fields(of: connection.pointer, targetBytes: target.count)
                // Responding before the content closes the connection: it may hide a request, so it is not read.
                guard try request.fields.hasContent(needsHost: header.needsHost) else {
                    connection.phase = .complete(request, route)
                    return .YES
                }
            case .complete(let complete, let found):
                request = complete
                route = found
            case .new, .betweenRequests, .responding: return .YES
            }
            let (response, exchange) = respond(to: request, by: route, on: connection)
            return send(response, exchange, of: route, on: connection)
        } catch {
            return send(error.response, HTTPConnection.Exchange(), of: route, on: connection)
        }
    }

    private func respond(
        to request: HTTPRequest, by route: Route?, on connection: HTTPConnection
    ) -> (HTTPResponse, HTTPConnection.Exchange) {
        // No deadline while the response is being generated.
        connection.progress = HTTPConnection.Progress(isIdle: false)
        var exchange = HTTPConnection.Exchange(isHead: request.method == "HEAD")
        do throws(HTTPResponse.Rejection) {
            if route?.isExempt != true { try admit(request, on: connection) }
        } catch {
            return (error.response, exchange)
        }
        guard let route else { return (HTTPResponse(status: 404, line: configuration.notFound), exchange) }
        route.meter?.requestStarted()
        exchange.meter = route.meter
        if let limit = route.limit {
            guard let permit = limit.take(for: connection) else { return (limit.rejection, exchange) }
            exchange.permits.append(permit)
        }
        guard let turns = route.turns else { return (route.response(to: request), exchange) }
        guard let turn = turns.take(for: connection) else { return (turns.rejection, exchange) }
        defer { turn.giveBack() }
        return (route.response(to: request), exchange)
    }

    /// Rejects a request that the access does not allow. Blocks while a password is checked.
    private func admit(_ request: HTTPRequest, on connection: HTTPConnection) throws(HTTPResponse.Rejection) {
        let (isInTime, users) = active.change { ($0.bucket?.take(at: monotonicTime()) ?? true, $0.access.users) }
        guard isInTime else { throw .init(status: 429, line: "too many requests") }
        guard let users else { return }
        let unauthorized = HTTPResponse.Rejection(
            status: 401, headers: [("WWW-Authenticate", "Basic")], line: "authentication required")
        guard let credentials = Credentials(authorization: request.header("Authorization")) else { throw unauthorized }
        guard try passwords.verdict(on: credentials, among: users, for: connection) else { throw unauthorized }
    }

    private func send(
        _ made: HTTPResponse, _ begun: HTTPConnection.Exchange, of route: Route?, on connection: HTTPConnection
    ) -> MHD_Result {
        var response = made
        var exchange = begun
        let bytes = response.body.knownBytes
        if bytes > MHDResponse.maximumCopiedBytes, !exchange.isHead {
            if let permit = unsent.take(bytes, for: connection) {
                exchange.permits.append(permit)
            } else {
                response = unsent.rejection
            }
        }
        response = route?.completed(response) ?? response
        exchange.status = response.status
        connection.phase = .responding(exchange)
        let now = monotonicTime()
        connection.progress = HTTPConnection.Progress(
            deadline: now + HTTPLimits.timeToSend(response.body.knownBytes), isIdle: false,
            stream: response.body.stream, sendingSince: now)
        let fields = active.read(\.access.headers)
        var own = response.headers.filter { field in !fields.contains { $0.name == field.name } }
        if case .line = response.body { own.append(("Content-Type", "text/plain; charset=utf-8")) }
        return MHDResponse(response.body, headers: own + fields.map { ($0.name, $0.value) }, on: connection)
            .queue(status: response.status)
    }

    /// Called when the request has ended for any reason; its response may still be in the kernel's buffers.
    func requestEnded(on connection: HTTPConnection) {
        if case .responding(let exchange) = connection.phase {
            exchange.meter?.requestEnded(status: exchange.status)
            for permit in exchange.permits { permit.giveBack() }
        }
        connection.phase = .betweenRequests
        connection.progress = HTTPConnection.Progress(deadline: monotonicTime() + HTTPLimits.idleTime)
        guard connection.isPaced else { return }
        pauseThread(for: HTTPLimits.pause)
        connection.isPaced = connections.hasMany(connection.client)
    }
}
