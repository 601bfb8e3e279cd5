internal import Glibc

/// The signals that end or reload the process, taken synchronously by one thread.
public struct Signals: Sendable {
    public enum Signal: Sendable, Equatable {
        /// SIGTERM or SIGINT
        case terminate
        /// SIGHUP
        case hangUp
    }

    private let owner = pthread_self()
    private let awaited: [Int32]

    /// Blocks the signals in the calling thread and in each thread that it starts from now on. SIGPIPE and SIGXFSZ are
    /// ignored in the whole process: a closed socket and a file at its limit (`ulimit -f`) are then errors of `write`.
    /// Create it on the main thread before anything else.
    ///
    /// - Parameter reloads: whether SIGHUP is awaited although the process was started with it ignored, as by
    ///   nohup(1); SIGINT stays ignored then, as in the background of a shell script.
    public init(reloads: Bool) {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let isIgnored = Self.isIgnored
        let others = [SIGINT, SIGHUP].filter { !isIgnored($0) || ($0 == SIGHUP && reloads) }
        awaited = others + [SIGTERM, Self.wakeSignal]
        setMask(SIG_BLOCK)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Has the signals end the process, as is their default: for a program that prints something and ends. A reader of
    /// its output who does not read cannot keep it then. Only on the thread that created it.
    public func unblock() {
        // The kernel keeps signals that have no handler from the first process of a container.
        if getpid() == 1 {
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _exit(128 + $0) } }
        }
        setMask(SIG_UNBLOCK)
    }

    private func setMask(_ request: Int32) {
        var set = awaitedSet
        unsafe pthread_sigmask(request, &set, nil)
    }

    /// The next signal, or `nil` after the time (`nil` = no limit) or a `wake()`, or earlier when a debugger interrupts
    /// it. Signals and wakes that came earlier are not lost. Only on the thread that created it. Corresponds to
    /// `sigtimedwait`.
    public func wait(for time: Duration?) -> Signal? {
        precondition(pthread_equal(pthread_self(), owner) != 0, "signals are awaited on the thread that blocked them")
        var set = awaitedSet
        var limit = (time ?? .seconds(1 << 32)).timespec
        return switch unsafe sigtimedwait(&set, nil, &limit) {
        case SIGTERM, SIGINT: .terminate
        case SIGHUP: .hangUp
        default: nil
        }
    }

    /// Ends the current or the next `wait`; any thread. Several wakes before a wait are one. The thread that
    /// created it must still live, as the main thread does.
    public func wake() {
        // Sent to that thread and not to the process: no other thread can take it.
        pthread_kill(owner, Self.wakeSignal)
    }

    private static let wakeSignal = SIGUSR1

    private var awaitedSet: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in awaited { unsafe sigaddset(&set, number) }
        return set
    }
}
