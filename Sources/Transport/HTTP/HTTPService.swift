internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization

/// What libmicrohttpd's callbacks call: the life of each request, from its first line to its end.
final class HTTPService: Sendable {
    private let limits: HTTPLimits
    private let isMetered: @Sendable (String) -> Bool
    private let onRequest: @Sendable (borrowing HTTPRequest) -> HTTPResponse
    private let extraHeaders = HTTPExtraHeaders()
    private let answering = Mutex(Answering())
    let meter: HTTPMeter
    let connections = HTTPConnections()
    /// Rings when the last answer under way has ended after `drain`.
    let drained: Bell

    private struct Answering {
        var count = 0
        var isDraining = false
    }

    init(
        configuration: HTTPServerConfiguration, onRequest: @escaping @Sendable (borrowing HTTPRequest) -> HTTPResponse
    ) throws(TransportError) {
        limits = configuration.limits
        isMetered = configuration.isMetered
        meter = HTTPMeter(limit: configuration.maximumConcurrentRequests)
        drained = try Bell()
        self.onRequest = onRequest
    }

    // MARK: - A connection

    func connectionBegan(on socket: Int32) -> HTTPConnection {
        let connection = HTTPConnection(socket: socket, deadline: .now + limits.requestTimeout)
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
        connection.bodyBytes = 0
        connection.setDeadline(.now + limits.requestTimeout)
    }

    /// One call of the access handler: with the header, with each part of the content, and when all has come.
    func requestArrived(
        method: String, contentBytes: Int, _ connection: HTTPConnection, _ handle: OpaquePointer
    ) -> MHD_Result {
        switch connection.phase {
        case .idle, .header:
            connection.phase = .body
            // An answer now would end the connection after it; there is one only when the content must not come.
            if let refusal = unsafe refusalOfContent(handle) {
                return unsafe answer(refusal, on: connection, handle)
            }
            return .YES
        case .body where contentBytes > 0:
            connection.bodyBytes += contentBytes
            return connection.bodyBytes <= limits.maximumBodyBytes ? .YES : .NO
        case .body:
            return unsafe answer(respond(method: method, to: connection, handle), on: connection, handle)
        case .answering:
            return .YES
        }
    }

    private func refusalOfContent(_ handle: OpaquePointer) -> HTTPResponse? {
        guard let text = unsafe HTTPRequest.contentLength(of: handle), let length = Int(text),
            length > limits.maximumBodyBytes
        else { return nil }
        return HTTPResponse(status: 413, line: "the content is longer than \(limits.maximumBodyBytes) bytes")
    }

    private func respond(method: String, to connection: HTTPConnection, _ handle: OpaquePointer) -> HTTPResponse {
        guard case .valid(let path, let query) = connection.target else {
            return connection.target == .tooLong
                ? HTTPResponse(
                    status: 414, line: "the request target is longer than \(limits.maximumTargetBytes) bytes")
                : HTTPResponse(status: 400, line: "the request target is malformed")
        }
        guard unsafe headerFits(handle) else {
            return HTTPResponse(
                status: 431,
                line: "the header is longer than \(limits.maximumHeaderBytes) bytes or has more than "
                    + "\(limits.maximumHeaderFields) fields")
        }
        if isMetered(path) {
            connection.isMetered = true
            guard meter.begin() else {
                return HTTPResponse(
                    status: 503, headers: [("Retry-After", "1")], line: "too many requests of \(path) at once")
            }
        }
        return onRequest(unsafe HTTPRequest(method: method, path: path, query: query, connection: handle))
    }

    /// What the request's header has taken of libmicrohttpd's memory leaves room for the answer's pieces.
    private func headerFits(_ handle: OpaquePointer) -> Bool {
        let all = MHD_ValueKind(
            rawValue: MHD_ValueKind.HEADER_KIND.rawValue | MHD_ValueKind.COOKIE_KIND.rawValue
                | MHD_ValueKind.GET_ARGUMENT_KIND.rawValue)!
        return unsafe CLibMicroHTTPD_header_size(handle) <= limits.maximumHeaderBytes
            && MHD_get_connection_values(handle, all, nil, nil) <= limits.maximumHeaderFields
    }

    private func answer(
        _ response: HTTPResponse, on connection: HTTPConnection, _ handle: OpaquePointer
    ) -> MHD_Result {
        connection.phase = .answering
        answering.withLock { $0.count += 1 }
        let allowance = Duration.seconds(response.body.count / limits.minimumRate)
        connection.setDeadline(.now + limits.answerTimeout + allowance)
        if connection.isMetered { meter.answered(response.status) }
        return unsafe response.queue(on: handle, extra: extraHeaders)
    }

    /// The request has ended in whatever way; its content may still be in the kernel's buffers.
    func requestEnded(_ connection: HTTPConnection) {
        if connection.isMetered {
            connection.isMetered = false
            meter.end()
        }
        if connection.phase == .answering { answerEnded(on: connection) }
        connection.phase = .idle
        connection.setDeadline(.now + limits.idleTimeout)
    }

    private func answerEnded(on connection: HTTPConnection) {
        let (isDraining, count) = answering.withLock { answering in
            answering.count -= 1
            return (answering.isDraining, answering.count)
        }
        guard isDraining else { return }
        // What is queued is still sent; the next request would be one too many.
        _ = shutdown(connection.socket, Int32(SHUT_RDWR))
        if count == 0 { drained.ring() }
    }

    // MARK: - The end

    /// Waits until no answer is under way. Connections are closed after the answer that they are in.
    func drain(within limit: Duration) {
        let count = answering.withLock { answering in
            answering.isDraining = true
            return answering.count
        }
        if count > 0 { _ = drained.wait(limit) }
    }
}
