internal import CLinux
internal import Glibc

/// Lets any thread wake a thread that waits for sockets. Corresponds to `eventfd`.
package struct Waker: ~Copyable, Sendable {
    private let event: FileDescriptor

    package init() throws(SystemError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else {
            throw SystemError(.system, "cannot make an event descriptor: \(describe(errorNumber: errno))")
        }
        event = FileDescriptor(owning: number)
    }

    /// For `poll`: readable after the first wake.
    package var descriptor: Int32 { event.number }

    package func wake() { _ = eventfd_write(event.number, 1) }

    /// Discards the wakes so far. For the waiting thread.
    package func clear() {
        var wakes: eventfd_t = 0
        _ = unsafe eventfd_read(event.number, &wakes)
    }
}
