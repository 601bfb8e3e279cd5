internal import CJQ
internal import Glibc

/// The process that runs libjq for a ``JQProgram``.
public enum JQWorker {
    /// The first argument of the worker; its memory in bytes and the program follow.
    public static let command = "__jq"
    /// Time of the processor for a message.
    static let maximumSeconds = 1
    private static let maximumResults = 100_000

    /// Serves the process that started this one, until that ends or closes the socket.
    ///
    /// - Parameter arguments: those after the program's name.
    /// - Returns: the exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 3, let memory = UInt(arguments[1]) else { return 2 }
        limit(RLIMIT_DATA, to: memory)
        // No module is loaded, no file is read: none can be opened.
        limit(RLIMIT_NOFILE, to: 0)
        limit(RLIMIT_CORE, to: 0)
        do throws(JQError) {
            var interpreter = try JQInterpreter(arguments[2], maximumResults: maximumResults)
            var response = JQFrame()
            while JQFrame.send(response.kind, response.content.span, over: 0),
                let message = JQFrame.receive(from: 0)
            {
                arm(seconds: maximumSeconds)
                do throws(JQError) {
                    response = JQFrame(kind: .content, content: try interpreter.run(message.content.span))
                } catch {
                    response = JQFrame(kind: .failure, content: Array(error.reason.utf8))
                }
                arm(seconds: 0)
            }
        } catch {
            _ = JQFrame.send(.failure, Array(error.reason.utf8).span, over: 0)
        }
        return 0
    }

    /// Has the kernel end this process when it has computed for so long; 0 = indefinitely.
    private static func arm(seconds: Int) {
        var timer = itimerval()
        timer.it_value.tv_sec = seconds
        unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    }

    private static func limit(_ resource: __rlimit_resource, to value: UInt) {
        var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
        unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }
}
