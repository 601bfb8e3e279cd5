import Glibc

/// A client that sends exactly the bytes it is given, however malformed they are.
public final class RawHTTPClient {
    public struct Response: Sendable {
        public var status: Int
        /// The header lines in order.
        public var headers: [(name: String, value: String)]
        public var body: [UInt8]

        /// All values of a field, whose name may be in any case.
        public func values(_ name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        public func value(_ name: String) -> String? { values(name).first }
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    public struct Failure: Error, CustomStringConvertible { public let description: String }

    public private(set) var socket: Int32
    private var received: [UInt8] = []

    /// Connects to a port of the loopback interface.
    /// - Parameter host: the last byte of the address 127.0.0.x that it connects from.
    public init(port: Int, receiveBuffer: Int32? = nil, from host: UInt8 = 1) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer {
            _ = unsafe setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        if host != 1 {
            address.sin_addr.s_addr = (in_addr_t(0x7F00_0000) + in_addr_t(host)).bigEndian
            _ = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let error = errno
            close()
            throw Failure(description: "cannot connect: errno \(error)")
        }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    public func close() {
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
    }

    /// Ends the connection with a reset, as a client that is killed does.
    public func abort() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    /// Ends the stream towards the peer, which can still respond.
    public func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// - Returns: false when the peer has closed the connection.
    @discardableResult public func send(_ bytes: [UInt8]) -> Bool { sendAll(bytes, to: socket) }

    @discardableResult public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends a request with a Host field and reads the response.
    public func request(_ target: String, method: String = "GET", headers: [String] = []) throws -> Response {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: test"] + headers
        send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return try readResponse(toHead: method == "HEAD")
    }

    /// Reads one response; any bytes after it stay for the next call.
    public func readResponse(toHead: Bool = false) throws -> Response {
        var response = try readHead()
        // Interim responses have no content and are skipped.
        while response.status < 200 { response = try readHead() }
        if toHead || response.status == 304 || response.status == 204 { return response }
        guard let text = response.value("Content-Length"), let length = Int(text) else {
            throw Failure(description: "a response without Content-Length")
        }
        while received.count < length { try readMore() }
        response.body = Array(received.prefix(length))
        received.removeFirst(length)
        return response
    }

    /// Reads the head of one response, even of an interim one; any bytes after it stay for the next call.
    public func readHead() throws -> Response {
        let lines = try read(upTo: "\r\n\r\n").split(separator: "\r\n").map(String.init)
        let first = lines[0].split(separator: " ")
        guard first.count >= 2, first[0] == "HTTP/1.1", let status = Int(first[1]) else {
            throw Failure(description: "malformed: \(lines[0])")
        }
        let fields = try lines.dropFirst().map { line in
            guard let colon = line.firstIndex(of: ":") else { throw Failure(description: "malformed: \(line)") }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (name: String(line[..<colon]), value: String(value))
        }
        return Response(status: status, headers: fields, body: [])
    }

    /// Reads until the peer closes the connection.
    public func readToEnd() throws -> [UInt8] {
        while try receive() {}
        defer { received = [] }
        return received
    }

    /// Reads up to and including a text; any bytes after it stay for the next call.
    public func read(upTo end: String) throws -> String {
        let end = Array(end.utf8)
        while true {
            if let start = received.indices.first(where: { received[$0...].starts(with: end) }) {
                let text = String(decoding: received[..<(start + end.count)], as: UTF8.self)
                received.removeFirst(start + end.count)
                return text
            }
            try readMore()
        }
    }

    /// Waits for a byte without consuming it.
    public func awaitBytes() throws {
        if received.isEmpty { try readMore() }
    }

    /// Whether something can be read without waiting.
    public var hasBytes: Bool {
        var waited = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&waited, 1, 0)
        return !received.isEmpty || ready > 0
    }

    private func readMore() throws {
        guard try receive() else {
            throw Failure(description: "the connection ended after \(received.count) bytes")
        }
    }

    /// - Returns: false at the end of the stream.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno == ECONNRESET { return false }
            throw Failure(description: "nothing came after \(received.count) bytes: errno \(errno)")
        }
        received += buffer[..<count]
        return true
    }
}
