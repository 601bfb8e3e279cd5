internal import CJQ
internal import Glibc

/// The process that runs libjq for a ``JQProgram``.
public enum JQWorker {
    /// The first argument of the worker; its memory in bytes follows.
    public static let command = "__jq"
    /// Time of the processor for a message.
    static let maximumSeconds = 1

    /// Serves the process that started this one, until that ends or closes the socket: compiles the first request, and
    /// runs the program on each further one.
    ///
    /// - Parameter arguments: those after the program's name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 2, let memory = UInt(arguments[1]) else { return 2 }
        volunteerForMemory()
        // No module is loaded, no file is read: none can be opened.
        guard limit(RLIMIT_DATA, to: memory), limit(RLIMIT_NOFILE, to: 0), limit(RLIMIT_CORE, to: 0) else { return 2 }
        let socket = JQSocket(descriptor: 0)
        guard case .success(let program)? = socket.receive() else { return 0 }
        var response: [UInt8] = []
        var isError = false
        do throws(JQError) {
            var interpreter = try JQInterpreter(String(decoding: program, as: UTF8.self))
            while socket.send(response.span, isError: isError), case .success(let message)? = socket.receive() {
                arm(seconds: maximumSeconds)
                do throws(JQError) {
                    response = try interpreter.run(message.span)
                    isError = false
                } catch {
                    response = Array(error.reason.utf8)
                    isError = true
                }
                arm(seconds: 0)
            }
        } catch {
            response = Array(error.reason.utf8)
            _ = socket.send(response.span, isError: true)
        }
        return 0
    }

    /// Has the kernel end this process when it has computed for so long; 0 = indefinitely.
    private static func arm(seconds: Int) {
        var timer = itimerval()
        timer.it_value.tv_sec = seconds
        unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    }

    /// Has the kernel end this process before the one that reads feeds where memory is short, as proc(5) says.
    private static func volunteerForMemory() {
        let file = unsafe open("/proc/self/oom_score_adj", O_WRONLY)
        let most = Array("1000".utf8)
        _ = unsafe write(file, most, most.count)
        close(file)
    }

    private static func limit(_ resource: __rlimit_resource, to value: UInt) -> Bool {
        var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
        return unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
    }
}
