internal import CLibMicroHTTPD
internal import HTTPText
internal import Synchronization
internal import System
internal import WebConfiguration

/// The side of the server that libmicrohttpd's callbacks call: the life of each connection and request.
///
/// All callbacks of a connection but those of its beginning and its end come from its own thread.
final class HTTPService: Sendable {
    private let configuration: HTTPServerConfiguration
    private let active: Mutex<ActiveWebConfiguration>
    private let passwords = PasswordChecks()
    /// Bytes of content that wait to be sent, of responses above `maximumCopiedBytes`.
    private let unsent = Mutex(Quota(limit: 64 << 20, limitPerClient: 16 << 20))
    /// Requests whose header has come and whose response is not sent, without streams of events.
    private let requestsUnderWay = Atomic(0)
    private let isEnding = Atomic(false)
    let connections: ConnectionTable
    private var limits: HTTPLimits { configuration.limits }

    /// Content of more bytes is sent from where it is, and counted; less is copied, and sent together with the header.
    static let maximumCopiedBytes = 64 * 1024

    init(configuration: HTTPServerConfiguration) throws(SystemError) {
        self.configuration = configuration
        active = Mutex(try ActiveWebConfiguration(configuration.web, replacing: nil))
        connections = ConnectionTable(
            limit: OpenFileLimit.raise(forConnections: configuration.limits.maximumConnections),
            limitPerClient: configuration.limits.maximumConnectionsPerClient)
    }

    // MARK: - A connection

    /// libmicrohttpd begins to serve a connection that `connections` has admitted.
    func connectionBegan(_ handle: MHDConnection) -> HTTPConnection {
        var handshake: TLSHandshake?
        if let context = active.withLock({ $0 }).tls, let session = unsafe handle.tlsSession {
            handshake = unsafe TLSHandshake(session, on: handle.socket, as: context)
        }
        let connection = HTTPConnection(handle, tls: handshake, deadline: monotonicTime() + limits.requestTimeout)
        connection.limitSendBuffer()
        connections.insert(connection)
        return connection
    }

    func connectionEnded(_ connection: HTTPConnection) {
        connections.remove(connection)
        guard let reason = connection.tls?.failure(isOverdue: connection.isOverdue(at: monotonicTime())) else { return }
        configuration.onTLSHandshakeFailure(
            TLSHandshakeFailure(peer: connection.peer.description, reason: reason))
    }

    // MARK: - A request

    /// The request line has come; the header has not.
    func requestBegan(_ target: MHDRequestTarget, on connection: HTTPConnection) {
        connection.phase = .header(target.parsed(limit: HTTPLimits.maximumTargetBytes), bytes: target.count)
        // The first request has the time since the connection began.
        if connection.hasHadRequest {
            connection.setDeadline(monotonicTime() + limits.requestTimeout)
        } else {
            connection.setDeadline(.milliseconds(connection.deadline))
        }
        connection.hasHadRequest = true
        target.hideQuery()
        if !connection.handle.hideContent() { connection.shutDown() }
    }

    /// One call of the access handler: when the header has come, and when the request is over.
    func requestArrived(_ line: MHDRequestLine, on connection: HTTPConnection) -> MHD_Result {
        switch connection.phase {
        case .header(let target, let bytes):
            // A response now is the connection's last: what follows is not read, as it may not be what it seems.
            do throws(HTTPRefusal) {
                let header = connection.handle.header(line, targetBytes: bytes)
                let request = try request(line, target, header, on: connection)
                if header.framing.hasContent { return respond(to: request, on: connection) }
                connection.phase = .complete(request)
                return .YES
            } catch {
                begin(nil, on: connection)
                let route = target.path.flatMap(route(to:))
                return send(error.response(in: route?.errorForm ?? .text), on: connection)
            }
        case .complete(let request): return respond(to: request, on: connection)
        case .idle, .responding: return .YES
        }
    }

    private func request(
        _ line: MHDRequestLine, _ target: HTTPRequestTarget, _ header: (framing: HTTPFraming, fields: HTTPFields),
        on connection: HTTPConnection
    ) throws(HTTPRefusal) -> HTTPRequest {
        guard case .valid(let path, let query) = target else {
            let limit = HTTPLimits.maximumTargetBytes
            throw target == .tooLong
                ? HTTPRefusal(414, "the request target is longer than \(limit) bytes")
                : HTTPRefusal(400, "the request target is malformed")
        }
        guard connection.handle.headerBytes <= HTTPLimits.maximumHeaderBytes else {
            throw HTTPRefusal(431, "the request's header is longer than \(HTTPLimits.maximumHeaderBytes) bytes")
        }
        guard header.fields.fields.count <= HTTPLimits.maximumFields else {
            throw HTTPRefusal(431, "the request's header has more than \(HTTPLimits.maximumFields) fields")
        }
        if let refusal = header.framing.refusal(needsHost: line.needsHost) { throw refusal }
        return HTTPRequest(method: line.methodText, path: path, query: query, fields: header.fields)
    }

    private func route(to path: String) -> Route? { configuration.routes.first { $0.matches(path) } }

    private func begin(_ request: HTTPRequest?, on connection: HTTPConnection) {
        requestsUnderWay.add(1, ordering: .sequentiallyConsistent)
        connection.phase = .responding(HTTPConnection.Exchange(request: request))
        // The thread is at work: nothing is waited for until there is something to send.
        connection.setDeadline(nil)
    }

    private func respond(to request: HTTPRequest, on connection: HTTPConnection) -> MHD_Result {
        begin(request, on: connection)
        let route = route(to: request.path)
        if let refusal = refusal(of: request, to: route, of: connection.client) {
            return send(refusal.response(in: route?.errorForm ?? .text), on: connection)
        }
        guard let route else {
            return send(HTTPRefusal(404, configuration.notFound).response(in: .text), on: connection)
        }
        route.meter?.requestStarted()
        let holdsLimit = route.limit?.acquire(connection.client) ?? true
        connection.updateExchange { exchange in
            exchange.route = route
            exchange.holdsLimit = holdsLimit
        }
        if !holdsLimit, let limit = route.limit {
            return send(limit.refusal.response(in: route.errorForm), on: connection)
        }
        return send(route.response(to: request), on: connection)
    }

    /// Why a request is not let in, if so. Blocks while a password is checked.
    private func refusal(of request: HTTPRequest, to route: Route?, of client: [UInt8]) -> HTTPRefusal? {
        let active = active.withLock { $0 }
        guard active.admitsRequest() else { return HTTPRefusal(429, "too many requests") }
        if let route, route.access == .open { return nil }
        switch active.access(authorization: request.header("Authorization")) {
        case .granted: return nil
        case .denied: return .unauthorized
        case .needsPassword(let check):
            switch passwords.verdict(on: check, of: client) {
            case .right: return nil
            case .wrong: return .unauthorized
            case .busy: return HTTPRefusal(429, "another password of this address is being checked")
            }
        }
    }

    // MARK: - A response

    private func send(_ response: HTTPResponse, on connection: HTTPConnection) -> MHD_Result {
        var response = response
        if response.contentBytes > Self.maximumCopiedBytes, !connection.isHead {
            if unsent.withLock({ $0.take(response.contentBytes, of: connection.client) }) {
                connection.updateExchange { $0.countedBytes = response.contentBytes }
            } else {
                response = HTTPRefusal.busy("too many bytes of responses are unread").response(in: .text)
            }
        }
        let status = response.status
        connection.updateExchange { $0.status = status }
        connection.setDeadline(monotonicTime() + limits.timeToSend(response.contentBytes))
        if case .stream(let stream) = response.body {
            connection.updateExchange { $0.isAwaited = false }
            requestIsOver(on: connection)
            connections.setStream(stream, of: connection)
        }
        return response.queue(on: connection, limits, extra: active.withLock { $0 }.headers)
    }

    /// The request has ended in whatever way; its content may still be in the kernel's buffers.
    func requestEnded(on connection: HTTPConnection) {
        if case .responding(let exchange) = connection.phase {
            if let route = exchange.route {
                route.meter?.requestEnded(status: exchange.status)
                if exchange.holdsLimit { route.limit?.release(connection.client) }
            }
            if exchange.countedBytes > 0 {
                unsent.withLock { $0.remove(exchange.countedBytes, of: connection.client) }
            }
            if connection.stream != nil { connections.setStream(nil, of: connection) }
            if exchange.isAwaited { requestIsOver(on: connection) }
        }
        connection.phase = .idle
        connection.setDeadline(monotonicTime() + limits.idleTimeout, isIdle: true)
    }

    private func requestIsOver(on connection: HTTPConnection) {
        requestsUnderWay.subtract(1, ordering: .sequentiallyConsistent)
        // What is queued is still sent; the next request would be one too many.
        if isEnding.load(ordering: .sequentiallyConsistent) { connection.shutDown() }
    }

    // MARK: - The end

    /// Ends streams and idle connections, and waits until no request is under way.
    func drain(within limit: Duration) {
        isEnding.store(true, ordering: .sequentiallyConsistent)
        connections.beginToEnd()
        let deadline = monotonicTime() + limit
        while requestsUnderWay.load(ordering: .sequentiallyConsistent) > 0, monotonicTime() < deadline {
            pauseThread(for: .milliseconds(5))
        }
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
