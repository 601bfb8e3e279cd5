internal import CLibMicroHTTPD
internal import Glibc
internal import Synchronization

/// What libmicrohttpd's callbacks call: the life of each request, from its first line to its end.
final class HTTPService: Sendable {
    private let limits: HTTPLimits
    private let isMetered: @Sendable (String) -> Bool
    private let onRequest: @Sendable (borrowing HTTPRequest) -> HTTPResponse
    private let extraHeaders = HTTPExtraHeaders()
    private let timeouts: Timeouts
    private let answersUnderWay = Atomic(0)
    private let isDraining = Atomic(false)
    let meter: HTTPMeter
    let connections: HTTPConnections
    /// Rings when the last answer under way has ended after `drain`.
    let drained: Bell

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
    ) throws(TransportError) {
        limits = configuration.limits
        timeouts = Timeouts(configuration.limits)
        isMetered = configuration.isMetered
        meter = HTTPMeter(limit: configuration.maximumConcurrentRequests)
        connections = try HTTPConnections()
        drained = try Bell()
        self.onRequest = onRequest
    }

    // MARK: - A connection

    func connectionBegan(on socket: Int32) -> HTTPConnection {
        let connection = HTTPConnection(socket: socket, deadline: .now + timeouts.request)
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
        connection.status = nil
        connection.setDeadline(.now + timeouts.request)
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
        guard unsafe MHD_lookup_connection_value(handle, .HEADER_KIND, "Content-Length") != nil else { return nil }
        // Two lengths, or a length and chunks, mean one thing to us and another to a proxy (RFC 9112 section 6.3).
        guard let length = unsafe headerField("Content-Length", of: handle).flatMap({ Int($0) }),
            unsafe MHD_lookup_connection_value(handle, .HEADER_KIND, "Transfer-Encoding") == nil
        else { return HTTPResponse(status: 400, line: "the length of the content is ambiguous") }
        guard length > limits.maximumBodyBytes else { return nil }
        return HTTPResponse(status: 413, line: "the content is longer than \(limits.maximumBodyBytes) bytes")
    }

    private func respond(method: String, to connection: HTTPConnection, _ handle: OpaquePointer) -> HTTPResponse {
        guard case .valid(let path, let query) = connection.target else {
            return connection.target == .tooLong
                ? HTTPResponse(
                    status: 414, line: "the request target is longer than \(limits.maximumTargetBytes) bytes")
                : HTTPResponse(status: 400, line: "the request target is malformed")
        }
        guard unsafe CLibMicroHTTPD_header_size(handle) <= HTTPLimits.maximumHeaderBytes else {
            return HTTPResponse(
                status: 431, line: "the request's header is longer than \(HTTPLimits.maximumHeaderBytes) bytes")
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

    private func answer(
        _ response: HTTPResponse, on connection: HTTPConnection, _ handle: OpaquePointer
    ) -> MHD_Result {
        connection.phase = .answering
        answersUnderWay.add(1, ordering: .sequentiallyConsistent)
        let allowance = Int64(Double(response.contentBytes) * timeouts.perByte)
        connection.setDeadline(.now + timeouts.answer + allowance)
        connection.status = response.status
        return unsafe response.queue(on: handle, extra: extraHeaders)
    }

    /// The request has ended in whatever way; its content may still be in the kernel's buffers.
    func requestEnded(_ connection: HTTPConnection) {
        if connection.isMetered {
            connection.isMetered = false
            meter.end(status: connection.status)
        }
        if connection.phase == .answering { answerEnded(on: connection) }
        connection.phase = .idle
        connection.setDeadline(.now + timeouts.idle)
    }

    private func answerEnded(on connection: HTTPConnection) {
        // Both sides write before they read, so one of them sees that the last answer has ended while draining.
        let left = answersUnderWay.subtract(1, ordering: .sequentiallyConsistent).newValue
        guard isDraining.load(ordering: .sequentiallyConsistent) else { return }
        // What is queued is still sent; the next request would be one too many.
        _ = shutdown(connection.socket, Int32(SHUT_RDWR))
        if left == 0 { drained.ring() }
    }

    // MARK: - The end

    /// Waits until no answer is under way. Connections are closed after the answer that they are in.
    func drain(within limit: Duration) {
        isDraining.store(true, ordering: .sequentiallyConsistent)
        if answersUnderWay.load(ordering: .sequentiallyConsistent) > 0 { _ = drained.wait(limit) }
    }
}
