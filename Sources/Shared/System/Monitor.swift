internal import Glibc

/// State under a lock, with a way to wait for its changes. Closures run under the lock, so they must not block.
@safe package final class Monitor<State: Sendable>: @unchecked Sendable {
    // @unchecked: the state is accessed only under the mutex. Mutex and condition live as long as this object.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    package init(_ state: State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(changed, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    package func read<Result>(_ body: (State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(state)
    }

    /// Changes the state and wakes all waiting threads to check it again.
    package func change<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(changed)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Blocks until the closure returns a value; it is called at once and after each change.
    ///
    /// - Parameter deadline: monotonic time; `nil` means no limit.
    /// - Returns: `nil` if the deadline has passed.
    package func wait<Result>(until deadline: Duration? = nil, _ body: (inout State) -> Result?) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        var time = (deadline ?? .seconds(1 << 32)).timespec
        while true {
            if let result = body(&state) { return result }
            if unsafe pthread_cond_timedwait(changed, mutex, &time) == ETIMEDOUT { return body(&state) }
        }
    }
}
