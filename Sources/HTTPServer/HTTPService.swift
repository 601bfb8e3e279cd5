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
    private let policy: Mutex<HTTPPolicy>
    private let passwords = PasswordChecker()
    private let timeouts: Timeouts
    /// Requests that have come in whole and are not over.
    private let requestsUnderWay = Atomic(0)
    private let isDraining = Atomic(false)
    let meter: HTTPMeter
    let connections: HTTPConnections
    /// Rings when the last request under way has ended after `drain`.
    let drained: WakePipe

    /// Milliseconds.
    private struct Timeouts {
        let request: Int64
        let idle: Int64
        let answer: Int64
        /// For each byte of an answer.
        let perByte: Double

        init(_ limits: HTTPLimits) {
            request = Int64(limits.requestTimeout / .milliseconds(1))
            idle = Int64(limits.idleTimeout / .milliseconds(1))
            answer = Int64(limits.answerTimeout / .milliseconds(1))
            perByte = 1000 / Double(max(limits.minimumRate, 1))
        }
    }

    init(
        configuration: HTTPServerConfiguration, onRequest: @escaping @Sendable (borrowing HTTPRequest) -> HTTPResponse
    ) throws(SystemError) {
        limits = configuration.limits
        timeouts = Timeouts(configuration.limits)
        isMetered = configuration.isMetered
        isPublic = configuration.isPublic
        refuse = configuration.refuse
        policy = Mutex(try HTTPPolicy(configuration.web, replacing: nil))
        meter = configuration.meter
        connections = try HTTPConnections()
        drained = try WakePipe()
        self.onRequest = onRequest
    }

    // MARK: - A connection

    func connectionBegan(on socket: Int32) -> HTTPConnection {
        let tls = policy.withLock { $0 }.tls
        let connection = HTTPConnection(socket: socket, tls: tls, deadline: .now + timeouts.request)
        connections.insert(connection)
        return connection
    }

    func connectionEnded(_ connection: HTTPConnection) {
        connections.remove(connection)
    }

    // MARK: - A request

    /// The request line has come; the header has not.
    func requestBegan(_ target: Span<UInt8>, on connection: HTTPConnection) {
        connection.target = HTTPRequestTarget(parsing: target, limit: limits.maximumTargetBytes)
        connection.phase = .header
        connection.status = nil
        connection.setDeadline(.now + timeouts.request)
    }

    /// One call of the access handler: when the header has come, when the request is over, and when a password has been
    /// checked.
    /// - Parameter needsHost: false for HTTP/1.0.
    func requestArrived(
        method: String, needsHost: Bool, _ connection: HTTPConnection, _ handle: OpaquePointer
    ) -> MHD_Result {
        switch connection.phase {
        case .idle, .header:
            // An answer now is the connection's last: what follows is not read, as it may not be what it seems.
            let framing = unsafe HTTPFraming(of: handle)
            if let refusal = unsafe refusal(of: connection, handle) ?? framing.refusal(needsHost: needsHost) {
                countIn(connection)
                return unsafe answer(refuse(refusal, connection.target.path), on: connection, handle)
            }
            if framing.hasContent { return unsafe respond(method: method, to: connection, handle) }
            connection.phase = .complete
            return .YES
        case .complete:
            return unsafe respond(method: method, to: connection, handle)
        case .suspended:
            return unsafe answer(respondToChecked(method: method, connection, handle), on: connection, handle)
        case .answered, .streaming:
            return .YES
        }
    }

    private func countIn(_ connection: HTTPConnection) {
        connection.phase = .answered
        requestsUnderWay.add(1, ordering: .sequentiallyConsistent)
    }

    private func refusal(of connection: HTTPConnection, _ handle: OpaquePointer) -> HTTPRefusal? {
        switch connection.target {
        case .malformed:
            HTTPRefusal(400, "the request target is malformed")
        case .tooLong:
            HTTPRefusal(414, "the request target is longer than \(limits.maximumTargetBytes) bytes")
        case .valid where unsafe CLibMicroHTTPD_header_size(handle) > HTTPLimits.maximumHeaderBytes:
            HTTPRefusal(431, "the request's header is longer than \(HTTPLimits.maximumHeaderBytes) bytes")
        case .valid: nil
        }
    }

    private func respond(method: String, to connection: HTTPConnection, _ handle: OpaquePointer) -> MHD_Result {
        countIn(connection)
        guard let response = unsafe response(method: method, connection, handle) else { return .YES }
        return unsafe answer(response, on: connection, handle)
    }

    /// Nil when a password has to be checked first.
    private func response(method: String, _ connection: HTTPConnection, _ handle: OpaquePointer) -> HTTPResponse? {
        guard case .valid(let path, let query) = connection.target else { preconditionFailure("it was refused before") }
        let policy = policy.withLock { $0 }
        guard policy.admitsRequest() else { return refuse(HTTPRefusal(429, "too many requests"), path) }
        let request = unsafe HTTPRequest(method: method, path: path, query: query, connection: handle)
        if isPublic(path) { return route(request, connection) }
        switch policy.entrance(authorization: request.header("Authorization")) {
        case .open: return route(request, connection)
        case .closed: return refuse(.unauthorized, path)
        case .password(let question):
            switch passwords.known(question) {
            case true: return route(request, connection)
            case false: return refuse(.unauthorized, path)
            case nil:
                unsafe suspend(connection, handle, until: question)
                return nil
            }
        }
    }

    /// Corresponds to `MHD_suspend_connection`: the connection is not looked at until it is resumed, and then the
    /// access handler is called again.
    private func suspend(_ connection: HTTPConnection, _ handle: OpaquePointer, until question: PasswordQuestion) {
        connection.phase = .suspended
        connection.verdict.store(.unavailable, ordering: .releasing)
        let suspended = unsafe SuspendedConnection(handle: handle)
        // Before the question is asked: resumed first, it would wait for ever.
        unsafe MHD_suspend_connection(handle)
        let isAsked = passwords.ask(question) { answer in
            if let answer { connection.verdict.store(answer ? .accepted : .refused, ordering: .releasing) }
            suspended.resume()
        }
        if !isAsked { suspended.resume() }
    }

    @safe private struct SuspendedConnection: @unchecked Sendable {
        // @unchecked: a suspended connection stays until it is resumed, and `MHD_resume_connection` may be called from
        // any thread. The daemon is not stopped before `PasswordChecker.stop` has had all of them resumed.
        let handle: OpaquePointer

        func resume() {
            unsafe MHD_resume_connection(handle)
        }
    }

    private func respondToChecked(
        method: String, _ connection: HTTPConnection, _ handle: OpaquePointer
    ) -> HTTPResponse {
        connection.phase = .answered
        guard case .valid(let path, let query) = connection.target else { preconditionFailure("it was read before") }
        switch connection.verdict.load(ordering: .acquiring) {
        case .accepted:
            return route(unsafe HTTPRequest(method: method, path: path, query: query, connection: handle), connection)
        case .refused: return refuse(.unauthorized, path)
        case .unavailable: return refuse(.busy("too many passwords to check at once"), path)
        }
    }

    private func route(_ request: borrowing HTTPRequest, _ connection: HTTPConnection) -> HTTPResponse {
        if isMetered(request.path) {
            connection.isMetered = true
            guard meter.begin() else { return refuse(.busy("too many requests of this path at once"), request.path) }
        }
        return onRequest(request)
    }

    private func answer(
        _ response: HTTPResponse, on connection: HTTPConnection, _ handle: OpaquePointer
    ) -> MHD_Result {
        let allowance = Int64(Double(response.contentBytes) * timeouts.perByte)
        connection.setDeadline(.now + timeouts.answer + allowance)
        connection.status = response.status
        if case .stream(let stream) = response.body { unsafe begin(stream, on: connection, handle) }
        return unsafe response.queue(on: handle, extra: policy.withLock { $0 }.headers)
    }

    private func begin(_ stream: HTTPStream, on connection: HTTPConnection, _ handle: OpaquePointer) {
        connection.phase = .streaming
        requestsUnderWay.subtract(1, ordering: .sequentiallyConsistent)
        unsafe stream.begin(on: handle, connection, timeout: Int64(limits.streamTimeout / .milliseconds(1)))
        connections.streams.insert(stream, on: connection.socket)
    }

    /// The request has ended in whatever way; its content may still be in the kernel's buffers.
    func requestEnded(_ connection: HTTPConnection) {
        if connection.isMetered {
            connection.isMetered = false
            meter.end(status: connection.status)
        }
        if connection.phase == .answered || connection.phase == .suspended { countOut(connection) }
        if connection.phase == .streaming { connections.streams.remove(on: connection.socket) }
        connection.phase = .idle
        connection.setDeadline(.now + timeouts.idle)
    }

    private func countOut(_ connection: HTTPConnection) {
        // Both sides write before they read, so one of them sees that the last request has ended while draining.
        let left = requestsUnderWay.subtract(1, ordering: .sequentiallyConsistent).newValue
        guard isDraining.load(ordering: .sequentiallyConsistent) else { return }
        // What is queued is still sent; the next request would be one too many.
        _ = shutdown(connection.socket, Int32(SHUT_RDWR))
        if left == 0 { drained.ring() }
    }

    // MARK: - The end

    /// Waits until no request is under way. Connections are closed after the answer that they are in.
    func drain(within limit: Duration) {
        isDraining.store(true, ordering: .sequentiallyConsistent)
        connections.streams.end()
        let deadline = monotonicTime() + limit
        while requestsUnderWay.load(ordering: .sequentiallyConsistent) > 0 {
            let left = deadline - monotonicTime()
            guard left > .zero, !drained.wait(left) else { return }
        }
    }

    /// Resumes all connections: a daemon cannot stop while one is suspended.
    func stopCheckingPasswords() {
        passwords.stop()
    }

    // MARK: - The web configuration

    /// Connections and requests that begin from now on follow this one.
    func adopt(_ configuration: WebConfiguration) throws(SystemError) {
        let current = policy.withLock { $0 }
        guard (current.tls == nil) == (configuration.tls == nil) else {
            throw SystemError(.configuration, "turning TLS on or off needs a restart")
        }
        let next = try HTTPPolicy(configuration, replacing: current)
        policy.withLock { $0 = next }
    }
}
