internal import Glibc

/// A bell that any thread rings and one waits for, alone or together with sockets.
package struct WakePipe: ~Copyable, Sendable {
    private let ear: FileDescriptor
    private let hammer: FileDescriptor

    package init() throws(SystemError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw SystemError(.system, "cannot make a socket pair: \(describe(errorNumber: errno))")
        }
        ear = FileDescriptor(owning: pair[0])
        hammer = FileDescriptor(owning: pair[1])
    }

    /// For `poll`: readable from the first ring on.
    package var descriptor: Int32 { ear.number }

    package func ring() {
        // Full means that it has rung.
        _ = unsafe send(hammer.number, [1] as [UInt8], 1, Int32(MSG_NOSIGNAL))
    }

    /// Forgets the rings until now; for the one that waits.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe recv(ear.number, &bytes, bytes.count, 0) > 0 {}
    }

    /// False when it has not rung in time.
    package func wait(_ limit: Duration) -> Bool {
        let deadline = monotonicTime() + limit
        while true {
            var waited = pollfd(fd: ear.number, events: Int16(POLLIN), revents: 0)
            let result = unsafe poll(&waited, 1, (deadline - monotonicTime()).pollMilliseconds)
            if result == 0 { return false }
            if result > 0 { return true }
        }
    }
}
