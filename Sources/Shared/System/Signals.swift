internal import Glibc

/// Signals that end or reload the process, received synchronously by one thread.
public struct Signals: Sendable {
    public enum Signal: Sendable, Equatable {
        /// SIGTERM or SIGINT.
        case terminate
        /// SIGHUP.
        case hangUp
    }

    private let owner = pthread_self()
    private var awaited = sigset_t()

    /// Blocks the signals in the calling thread and the threads it starts from then on. Ignores SIGPIPE and SIGXFSZ
    /// in the whole process, so that a closed socket or a file at its limit (`ulimit -f`) is an error of `write`.
    /// Resets SIGCHLD, which a parent may have ignored: a child's number would then be free, for any other process,
    /// before the child is awaited.
    /// Create it on the main thread before anything else.
    ///
    /// - Parameter reloads: whether to await SIGHUP even if it was ignored at the start, as by nohup(1). An ignored
    ///   SIGINT stays ignored, as in the background of a shell script.
    public init(reloads: Bool) {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGCHLD, SIG_DFL)
        let others = [SIGINT, SIGHUP].filter { !Self.isIgnored($0) || ($0 == SIGHUP && reloads) }
        unsafe sigemptyset(&awaited)
        for number in others + [SIGTERM, Self.wakeSignal] { unsafe sigaddset(&awaited, number) }
        setMask(SIG_BLOCK)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Lets the signals end the process, as by default: for a program that prints something and exits, which a
    /// stalled reader of its output must not keep alive. Only on the thread that created it.
    public func unblock() {
        // The kernel discards signals without a handler for PID 1, the first process of a container.
        if getpid() == 1 {
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _exit(128 + $0) } }
        }
        setMask(SIG_UNBLOCK)
    }

    private func setMask(_ request: Int32) {
        var set = awaited
        unsafe pthread_sigmask(request, &set, nil)
    }

    /// Waits for the next signal; `nil` after `time` (`nil` means no limit), after `wake()`, or if a debugger
    /// interrupts it. Earlier signals and wakes are not lost. Only on the thread that created it. Corresponds to
    /// `sigtimedwait`.
    public func wait(for time: Duration?) -> Signal? {
        precondition(pthread_equal(pthread_self(), owner) != 0, "signals are awaited on the thread that blocked them")
        var set = awaited
        var limit = (time ?? .seconds(1 << 32)).timespec
        return switch unsafe sigtimedwait(&set, nil, &limit) {
        case SIGTERM, SIGINT: .terminate
        case SIGHUP: .hangUp
        default: nil
        }
    }

    /// Ends the current or the next `wait`; any thread. Several wakes before a wait count as one. The thread that
    /// created this must still exist, as the main thread does.
    public func wake() {
        // Directed at that thread, so that no other thread can take it.
        pthread_kill(owner, Self.wakeSignal)
    }

    private static let wakeSignal = SIGUSR1
}
