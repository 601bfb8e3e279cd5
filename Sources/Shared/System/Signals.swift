internal import Glibc

/// The signals that end or reload the process, taken synchronously by one thread.
public struct Signals: Sendable {
    public enum Signal: Sendable, Equatable {
        /// SIGTERM or SIGINT
        case terminate
        /// SIGHUP
        case hangUp
    }

    private let owner: pthread_t

    /// Blocks the signals in the calling thread and in each thread that it starts from now on. SIGPIPE and SIGXFSZ are
    /// ignored in the whole process: a closed socket and a file at its limit (`ulimit -f`) are then errors of `write`.
    /// Call it on the main thread before anything else.
    public static func block() -> Signals {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        setMask(SIG_BLOCK)
        return Signals(owner: pthread_self())
    }

    /// Has the signals end the process, as is their default: for a program that prints something and ends. A reader of
    /// its output who does not read cannot keep it then. Only on the thread that called ``block()``.
    public func unblock() {
        // The kernel keeps signals that have no handler from the first process of a container.
        if getpid() == 1 {
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _exit(128 + $0) } }
        }
        Self.setMask(SIG_UNBLOCK)
    }

    private static func setMask(_ request: Int32) {
        var set = awaited
        unsafe pthread_sigmask(request, &set, nil)
    }

    /// The next signal, or `nil` after the time (`nil` = no limit) or a `wake()`, or earlier when a debugger interrupts
    /// it. Signals and wakes that came earlier are not lost. Only on the thread that called `block()`. Corresponds to
    /// `sigtimedwait`.
    public func wait(for time: Duration?) -> Signal? {
        precondition(pthread_equal(pthread_self(), owner) != 0, "signals are awaited on the thread that blocked them")
        var set = Self.awaited
        var limit = (time ?? .seconds(1 << 32)).timespec
        return switch unsafe sigtimedwait(&set, nil, &limit) {
        case SIGTERM, SIGINT: .terminate
        case SIGHUP: .hangUp
        default: nil
        }
    }

    /// Ends the current or the next `wait`; any thread. Several wakes before a wait are one. The thread that called
    /// `block()` must still live, as the main thread does.
    public func wake() {
        // Sent to that thread and not to the process: no other thread can take it.
        pthread_kill(owner, Self.wakeSignal)
    }

    private static let wakeSignal = SIGUSR1

    private static var awaited: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP, wakeSignal] { unsafe sigaddset(&set, number) }
        return set
    }
}
