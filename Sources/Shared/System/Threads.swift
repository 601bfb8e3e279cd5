internal import Glibc
internal import Synchronization

/// A dedicated thread for a body that blocks; the threads of Swift's pool must not be blocked.
public final class ServiceThread: Sendable {
    private let thread: Mutex<pthread_t?>

    /// Starts the thread at once.
    /// - Parameters:
    ///   - name: shown by `top -H` and debuggers; the kernel keeps 15 bytes.
    ///   - stackBytes: address space; only pages that are touched become memory.
    public init(name: String, stackBytes: Int = 512 * 1024, body: @escaping @Sendable () -> Void) throws(SystemError) {
        let context = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        var started = pthread_t()
        let result = unsafe pthread_create(&started, &attributes, serviceThread, context.toOpaque())
        guard result == 0 else {
            unsafe context.release()
            throw SystemError(.system, "cannot start the thread \(name): \(describe(errorNumber: result))")
        }
        thread = Mutex(started)
    }

    /// Waits until the body has returned. Only the first call waits.
    public func join() {
        if let thread = takeThread() {
            let result = pthread_join(thread, nil)
            precondition(result == 0, "a thread cannot wait for itself")
        }
    }

    private func takeThread() -> pthread_t? { thread.withLock { $0.take() } }

    deinit {
        if let thread = takeThread() {
            pthread_detach(thread)
        }
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

/// Called by `pthread_create` on the new thread; gives up the retain of `init`.
@c(airquality_service_thread)
func serviceThread(context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue()
    nameThisThread(body.name)
    body.run()
    return nil
}

/// Corresponds to `pthread_setname_np`, which Swift does not import: it writes this file too.
private func nameThisThread(_ name: String) {
    let number = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard number >= 0 else { return }
    let file = FileDescriptor(owning: number)
    let bytes = Array(name.utf8.prefix(15))
    _ = unsafe write(file.number, bytes, bytes.count)
}

/// Lets any thread wake one that waits for it, alone or together with sockets.
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

    /// - Returns: false when nothing woke it in time.
    package func wait(_ limit: Duration) -> Bool {
        let deadline = monotonicTime() + limit
        while true {
            var waited = pollfd(fd: readEnd.number, events: Int16(POLLIN), revents: 0)
            let result = unsafe poll(&waited, 1, (deadline - monotonicTime()).pollMilliseconds)
            if result == 0 { return false }
            if result > 0 { return true }
        }
    }
}

/// Ends the process at once: no destructor runs and no thread is waited for. Corresponds to `_exit`.
public func endProcess(status: Int32) -> Never { _exit(status) }
