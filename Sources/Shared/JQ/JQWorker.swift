internal import Bytes
internal import Glibc
internal import System

/// The worker process of a ``JQProgram``.
public enum JQWorker {
    /// First argument of the worker, followed by its memory limit in bytes.
    public static let command = "__jq"
    /// CPU seconds per message.
    static let maximumSeconds = 1

    /// Serves the parent process until it ends or closes the socket: compiles the first request, and runs the program
    /// on each further one.
    ///
    /// - Parameter arguments: those after the program's name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 2, let memory = rlim_t(arguments[1]) else { return 2 }
        closefrom(1)
        // The parent process may ignore the signal, which children inherit.
        signal(SIGPROF, SIG_DFL)
        // When memory runs out, the kernel kills this process before the one that reads feeds; see proc(5).
        let score = unsafe open("/proc/self/oom_score_adj", O_WRONLY)
        _ = writeAll(Array("1000".utf8), to: score)
        close(score)
        guard limitResources(memory: memory) else { return 2 }
        let socket = JQSocket(descriptor: 0)
        var interpreter: JQInterpreter?
        while true {
            var timer = itimerval()
            timer.it_value.tv_sec = maximumSeconds
            unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
            guard let request = socket.receive() else { return 0 }
            var response: [UInt8] = []
            do throws(SystemError) {
                response = try interpreter?.run(request.span) ?? []
                if interpreter == nil { interpreter = try JQInterpreter(String(decoding: request, as: UTF8.self)) }
            } catch {
                response = Array("!\(error.reason)".utf8)
            }
            guard socket.send(response) else { return 0 }
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
