import Glibc

/// A client that sends exactly the bytes it is told to, however wrong they are.
public final class RawHTTPClient {
    public struct Answer: Sendable {
        public var status: Int
        /// The header lines in order.
        public var headers: [(name: String, value: String)]
        public var body: [UInt8]

        /// The values of a field, its name in any case.
        public func values(_ name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        public func value(_ name: String) -> String? { values(name).first }
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    public enum Failure: Error, CustomStringConvertible {
        case cannotConnect(Int32)
        case ended(after: [UInt8])
        case timedOut(after: [UInt8])
        case malformed(String)

        public var description: String {
            switch self {
            case .cannotConnect(let error): "cannot connect: errno \(error)"
            case .ended(let bytes): "the connection ended after \(bytes.count) bytes"
            case .timedOut(let bytes): "nothing came after \(bytes.count) bytes"
            case .malformed(let text): "malformed: \(text)"
            }
        }
    }

    public private(set) var socket: Int32
    private var received: [UInt8] = []

    /// Connects to a port of the loopback interface.
    /// - Parameter host: the last byte of the address 127.0.0.x that it comes from.
    public init(port: Int, isIPv6: Bool = false, receiveBuffer: Int32? = nil, from host: UInt8 = 1) throws {
        socket = Glibc.socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if let receiveBuffer { set(SO_RCVBUF, to: receiveBuffer) }
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(port).bigEndian
            address.sin6_addr = in6addr_loopback
            try connect(&address)
            return
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
        try connect(&address)
    }

    /// Connects to a `unix:` socket.
    public init(path: String) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        try connect(&address)
    }

    private func connect<Address>(_ address: inout Address) throws {
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(socket, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard result == 0 else {
            let error = errno
            close()
            throw Failure.cannotConnect(error)
        }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private func set(_ option: Int32, to value: Int32) {
        var value = value
        _ = unsafe setsockopt(socket, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
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

    /// The peer sees the end of the stream, and can still answer.
    public func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// False when the peer has ended the connection.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    public func send(_ text: String) -> Bool {
        send(Array(text.utf8))
    }

    /// Sends a request with a Host field and reads the answer.
    public func request(_ target: String, method: String = "GET", headers: [String] = []) throws -> Answer {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: test"] + headers
        send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return try readAnswer(toHead: method == "HEAD")
    }

    /// Reads one answer; what follows it stays for the next call.
    public func readAnswer(toHead: Bool = false) throws -> Answer {
        var answer = try readHead()
        // Interim answers have no content and are not what is waited for.
        while answer.status < 200 { answer = try readHead() }
        if toHead || answer.status == 304 || answer.status == 204 { return answer }
        guard let text = answer.value("Content-Length"), let length = Int(text) else {
            throw Failure.malformed("an answer without Content-Length")
        }
        while received.count < length { try readMore() }
        answer.body = Array(received.prefix(length))
        received.removeFirst(length)
        return answer
    }

    /// Reads the head of one answer, an interim one as well; what follows it stays for the next call.
    public func readHead() throws -> Answer {
        var end = endOfHeader()
        while end == nil {
            try readMore()
            end = endOfHeader()
        }
        let header = received.prefix(end!)
        received.removeFirst(end!)
        let lines = String(decoding: header, as: UTF8.self).split(separator: "\r\n").map(String.init)
        let first = lines[0].split(separator: " ")
        guard first.count >= 2, first[0] == "HTTP/1.1", let status = Int(first[1]) else {
            throw Failure.malformed(lines[0])
        }
        let fields = try lines.dropFirst().map { line in
            guard let colon = line.firstIndex(of: ":") else { throw Failure.malformed(line) }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (name: String(line[..<colon]), value: String(value))
        }
        return Answer(status: status, headers: fields, body: [])
    }

    private func endOfHeader() -> Int? {
        var run = 0
        for (index, byte) in received.enumerated() {
            run = byte == [0x0D, 0x0A, 0x0D, 0x0A][run] ? run + 1 : (byte == 0x0D ? 1 : 0)
            if run == 4 { return index + 1 }
        }
        return nil
    }

    /// Everything until the peer ends the connection.
    public func readToEnd() throws -> [UInt8] {
        do {
            while true { try readMore() }
        } catch Failure.ended(let bytes) {
            received = []
            return bytes
        }
    }

    /// Everything up to and with a text; what follows it stays for the next call.
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

    /// Returns when a byte has come, which stays to be read.
    public func awaitBytes() throws {
        if received.isEmpty { try readMore() }
    }

    /// Whether something can be read at once.
    public var hasBytes: Bool {
        var waited = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&waited, 1, 0)
        return !received.isEmpty || ready > 0
    }

    private func readMore() throws {
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        if count > 0 {
            received += buffer[..<count]
        } else if count < 0, errno == EAGAIN || errno == EWOULDBLOCK {
            throw Failure.timedOut(after: received)
        } else if count == 0 || errno == ECONNRESET {
            throw Failure.ended(after: received)
        }
    }
}
