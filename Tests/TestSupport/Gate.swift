import Glibc

/// Blocks a thread until it is opened; each `wait` needs an `open`.
///
/// @unchecked: a POSIX semaphore is made for several threads, and its memory lives as long as this object.
@safe public final class Gate: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    public init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    public func wait() {
        while unsafe sem_wait(semaphore) != 0 {}
    }

    public func open() { unsafe sem_post(semaphore) }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }
}
