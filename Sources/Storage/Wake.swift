internal import Glibc

/// Lets one thread sleep until another one wakes it: a condition variable on the clock that never jumps.
///
/// @unchecked: the pointers never change, what they point to is POSIX's to share between threads, and `isAwake` is
/// touched under the mutex only.
@safe
struct Wake: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let isAwake: UnsafeMutablePointer<Bool>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe isAwake = .allocate(capacity: 1)
        unsafe isAwake.initialize(to: false)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
        unsafe isAwake.deallocate()
    }

    /// Ends this wait and every later one.
    func wake() {
        unsafe pthread_mutex_lock(mutex)
        unsafe isAwake.pointee = true
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// - Returns: whether it was woken.
    func wait(for duration: Duration) -> Bool {
        let deadline = deadline(after: duration)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while unsafe !isAwake.pointee {
            var deadline = deadline
            if unsafe pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { break }
        }
        return unsafe isAwake.pointee
    }
}

private func deadline(after duration: Duration) -> timespec {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let time = (.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) + max(duration, .zero)).components
    return timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.attoseconds / 1_000_000_000))
}
