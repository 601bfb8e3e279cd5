internal import Glibc

/// Lets any thread wake one that waits for sockets.
package struct WakePipe: ~Copyable, Sendable {
    private let readEnd: FileDescriptor
    private let writeEnd: FileDescriptor

    package init() throws(SystemError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw SystemError(.system, "cannot make a socket pair: \(describe(errorNumber: errno))")
        }
        readEnd = FileDescriptor(owning: pair[0])
        writeEnd = FileDescriptor(owning: pair[1])
    }

    /// For `poll`: readable from the first wake on.
    package var descriptor: Int32 { readEnd.number }

    package func wake() {
        // A full socket is readable already.
        _ = unsafe send(writeEnd.number, [1] as [UInt8], 1, Int32(MSG_NOSIGNAL))
    }

    /// Forgets the wakes until now. For the waiting thread.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe recv(readEnd.number, &bytes, bytes.count, 0) > 0 {}
    }
}
