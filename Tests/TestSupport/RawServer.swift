import Foundation
import Glibc
import Synchronization

/// A TCP server on a free loopback port that hands each connection to a closure on its own thread. It stands for peers
/// that misbehave.
public final class RawServer: Sendable {
    public let port: Int
    private let listener: Int32
    /// A pipe that is readable when the test is over, and its other end.
    private let stopping: (reader: Int32, writer: Int32)
    private let serve: @Sendable (Connection, Int) -> Void
    private let thread = Mutex<Gate?>(nil)

    /// One accepted connection; closed when the closure returns.
    public final class Connection: Sendable {
        private let socket: Int32
        private let stop: Int32

        fileprivate init(_ socket: Int32, stop: Int32) {
            self.socket = socket
            self.stop = stop
        }

        /// Sends all bytes. Returns false when the peer is gone.
        @discardableResult public func send(_ bytes: [UInt8]) -> Bool {
            sendAll(bytes, to: socket)
        }

        @discardableResult public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// Returns the bytes that are available, at least one; none at the end of the stream or when the test is over.
        public func receive() -> [UInt8] {
            guard waitForInput() else { return [] }
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = unsafe recv(socket, &buffer, buffer.count, 0)
            return Array(buffer.prefix(max(count, 0)))
        }

        /// Receives until the bytes end with this text or the stream ends.
        public func receive(upTo end: String) -> String {
            var received: [UInt8] = []
            while !received.reversed().starts(with: end.utf8.reversed()) {
                guard waitForInput() else { break }
                var byte: UInt8 = 0
                guard unsafe recv(socket, &byte, 1, 0) == 1 else { break }
                received.append(byte)
            }
            return String(decoding: received, as: UTF8.self)
        }

        /// Receives exactly this many bytes; fewer at the end of the stream.
        public func receive(count: Int) -> [UInt8] {
            var received: [UInt8] = []
            while received.count < count, waitForInput() {
                var buffer = [UInt8](repeating: 0, count: count - received.count)
                let result = unsafe recv(socket, &buffer, buffer.count, 0)
                if result <= 0 { break }
                received += buffer.prefix(result)
            }
            return received
        }

        /// Reads and discards until the peer is gone or the test is over.
        public func holdOpen() {
            while !receive().isEmpty {}
        }

        private func waitForInput() -> Bool { TestSupport.waitForInput(of: socket, or: stop) }
    }

    /// - Parameter serve: called with each connection and its number, from 0 on.
    public init(_ serve: @escaping @Sendable (Connection, Int) -> Void) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                precondition(unsafe bind(listener, address, length) == 0 && listen(listener, 64) == 0)
                precondition(unsafe getsockname(listener, address, &length) == 0)
            }
            return unsafe Int(UInt16(bigEndian: address.pointee.sin_port))
        }
        var ends: [Int32] = [0, 0]
        precondition(unsafe pipe(&ends) == 0)
        self.listener = listener
        self.port = port
        self.serve = serve
        stopping = (ends[0], ends[1])
        thread.withLock { $0 = startThread { self.run() } }
    }

    /// Closes all connections and waits for the threads.
    public func stop() {
        guard let thread = thread.withLock({ $0.take() }) else { return }
        _ = unsafe write(stopping.writer, [1] as [UInt8], 1)
        thread.wait()
        for descriptor in [listener, stopping.reader, stopping.writer] { close(descriptor) }
    }

    private func run() {
        var threads: [Gate] = []
        for number in 0... {
            guard waitForInput(of: listener, or: stopping.reader) else { break }
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { continue }
            let connection = Connection(socket, stop: stopping.reader)
            threads.append(
                startThread { [serve] in
                    serve(connection, number)
                    close(socket)
                })
        }
        for thread in threads { thread.wait() }
    }
}

/// False when the peer is gone.
func sendAll(_ bytes: [UInt8], to socket: Int32) -> Bool {
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

/// False when the test is over.
private func waitForInput(of descriptor: Int32, or stop: Int32) -> Bool {
    var waited = [descriptor, stop].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while unsafe poll(&waited, 2, -1) < 0 {}
    return waited[1].revents == 0
}

/// Starts a thread, and returns a gate that opens when it has ended.
private func startThread(_ run: @escaping @Sendable () -> Void) -> Gate {
    let end = Gate()
    Thread.detachNewThread {
        run()
        end.open()
    }
    return end
}
