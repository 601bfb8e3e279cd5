internal import CLinux
internal import Glibc
internal import Synchronization

/// A dedicated thread, started by `init`, for a body that blocks, as the threads of Swift's pool must not.
public final class ServiceThread: Sendable {
    private let name: String
    private let body: @Sendable () -> Void
    private let thread = Mutex<pthread_t?>(nil)

    /// - Parameters:
    ///   - name: shown by `top -H` and debuggers; the kernel keeps 15 bytes.
    ///   - stackBytes: address space; only pages that are touched use memory.
    public init(name: String, stackBytes: Int = 512 * 1024, body: @escaping @Sendable () -> Void) throws(SystemError) {
        self.name = name
        self.body = body
        let context = unsafe Unmanaged.passRetained(self)
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
        thread.withLock { $0 = started }
    }

    /// Waits until the body has returned. Only the first call waits.
    public func join() {
        guard let thread = thread.withLock({ $0.take() }) else { return }
        let result = pthread_join(thread, nil)
        precondition(result == 0, "a thread cannot wait for itself")
    }

    fileprivate func run() {
        unsafe CLinux_nameThread(name)
        body()
    }

    deinit {
        if let thread = thread.withLock({ $0.take() }) { pthread_detach(thread) }
    }
}

/// Called by `pthread_create` on the new thread; releases the retain of `init`.
@c(airquality_service_thread)
func serviceThread(context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    unsafe Unmanaged<ServiceThread>.fromOpaque(context!).takeRetainedValue().run()
    return nil
}
