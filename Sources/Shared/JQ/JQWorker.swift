internal import Bytes
internal import Glibc
internal import System

/// The worker process of a ``JQProcess``.
public enum JQWorker {
    /// First argument of the worker, followed by its memory limit in bytes.
    public static let command = "__jq"
    /// CPU seconds per request.
    static let maximumSeconds = 1
    /// Limit on the memory limit.
    private static let maximumMemory: rlim_t = 1 << 40

    /// Serves the parent process until it ends or closes the socket: compiles programs and runs them.
    ///
    /// - Parameter arguments: those after the program's name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 2, let memory: rlim_t = decimalNumber(arguments[1].utf8), memory <= maximumMemory
        else {
            StandardStream.error.write("\(command): expected a memory limit in bytes, up to \(maximumMemory)\n")
            return 2
        }
        closefrom(1)
        // The parent process may ignore or block the signal, which children inherit.
        signal(SIGPROF, SIG_DFL)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPROF)
        unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
        // When memory runs out, the kernel kills this process before the one that reads feeds; see proc(5).
        let score = unsafe open("/proc/self/oom_score_adj", O_WRONLY)
        _ = writeAll(Array("1000".utf8), to: score)
        close(score)
        guard limitResources(memory: memory) else { return 2 }
        let socket = JQSocket(descriptor: 0, process: nil)
        var programs = JQPrograms()
        do throws(JQSocket.Failure) {
            while true {
                var timer = itimerval()
                timer.it_value.tv_sec = maximumSeconds
                unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
                try socket.send(programs.response(to: try socket.receive()))
            }
        } catch {
            // The parent has closed the socket.
            return 0
        }
    }

    private static func limitResources(memory: rlim_t) -> Bool {
        // Exclude what the process already uses, which is far more with a sanitizer. Field 6 in proc(5).
        let sizes = (try? readFileBlocking("/proc/self/statm", limit: 1024))?.split(separator: UInt8(ascii: " "))
        let pages: rlim_t = sizes?.dropFirst(5).first.flatMap { decimalNumber($0) } ?? 0
        let own = pages * rlim_t(sysconf(Int32(_SC_PAGESIZE)))
        // No file can be opened, so no module can be loaded.
        for (resource, value) in [(RLIMIT_DATA, own + memory), (RLIMIT_NOFILE, 0), (RLIMIT_CORE, 0)] {
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
            // Only root may raise a hard limit.
            limit.rlim_max = min(limit.rlim_max, value)
            limit.rlim_cur = limit.rlim_max
            guard unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return false }
        }
        return true
    }
}
