internal import Glibc
public import System

/// Programs in jq's language, in a worker process.
///
/// libjq runs in a worker process: this executable started again, without environment, files or standard error. libjq
/// cannot be interrupted within a step, ends the process when memory runs out, and recurses on the stack for nesting.
/// The kernel limits the worker's resources and kills it; the next message gets a new one. Not thread-safe.
public struct JQProcess: ~Copyable {
    private let programs: [JQProgram]
    /// Limit on the worker's data in memory; libjq takes about 14 times the size of the message.
    private let memoryBytes: Int
    /// Limit on the size of the results for a message, which this process holds in memory.
    private let resultBytes: Int
    private let executable: String
    private var worker: Worker?

    var workerID: pid_t? { mutating get { worker?.process } }

    /// A worker, which is killed when this value is destroyed.
    struct Worker: ~Copyable {
        let socket: JQSocket
        let process: pid_t
        /// Whether it has compiled the programs.
        var isReady = false

        deinit {
            kill(process, SIGKILL)
            close(socket.descriptor)
            waitpid(process, nil, 0)
        }
    }

    /// Starts a worker that compiles the programs, which takes about 30 ms for each.
    ///
    /// - Parameters:
    ///   - programs: at most 256.
    ///   - messageBytes: maximum size of a message.
    ///   - executable: a program that calls ``JQWorker/run(_:)`` if its first argument is ``JQWorker/command``.
    /// - Throws: jq's first error message about the first program that does not compile.
    public init(
        _ programs: [JQProgram], messageBytes: Int = 4 << 20, executable: String = "/proc/self/exe"
    ) throws(SystemError) {
        self.programs = programs
        memoryBytes = (64 << 20) + 16 * messageBytes
        resultBytes = max(1 << 20, messageBytes)
        self.executable = executable
        for program in programs { try program.refuseUnavailable() }
        try startWorker()
    }

    /// Runs a program on a message.
    ///
    /// - Parameter index: that of the program, whose output is ``JQProgram/Output/elements``.
    public mutating func elements(
        _ index: Int, of message: Span<UInt8>, as input: JQProgram.Input
    ) throws(SystemError) -> [UInt8] { try run(index, message, input) }

    /// Runs a program on a message.
    ///
    /// - Parameter index: that of the program, whose output is ``JQProgram/Output/texts``.
    /// - Returns: at most 16 texts in UTF-8 of 64 KiB in all; more are an error.
    public mutating func texts(
        _ index: Int, for message: Span<UInt8>, as input: JQProgram.Input
    ) throws(SystemError) -> [[UInt8]] { JQTexts.list(in: try run(index, message, input)) }

    private mutating func run(
        _ index: Int, _ message: Span<UInt8>, _ input: JQProgram.Input
    ) throws(SystemError) -> [UInt8] {
        // A worker killed since the last message has not seen this one.
        if worker?.socket.hasEnded ?? true { try startWorker() }
        return try ask(JQRequest.bytes(toRun: index, on: message, as: input))
    }

    private mutating func startWorker() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SystemError(.system, "no socket for a worker: \(describe(errorNumber: errno))")
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        let words = [executable, JQWorker.command, String(memoryBytes)]
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
        }
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var process: pid_t = 0
        let status = unsafe posix_spawn(&process, executable, &actions, nil, &arguments, &environment)
        close(ends[1])
        guard status == 0 else {
            close(ends[0])
            throw SystemError(.system, "cannot start \(executable) as a worker: \(describe(errorNumber: status))")
        }
        worker = Worker(socket: JQSocket(descriptor: ends[0], process: process), process: process)
        for program in programs {
            do throws(SystemError) {
                _ = try ask(JQRequest.bytes(toCompile: program))
            } catch {
                throw SystemError(.system, program.located(error.reason))
            }
        }
        worker?.isReady = true
    }

    private mutating func ask(_ request: [UInt8]) throws(SystemError) -> [UInt8] {
        guard let worker = worker.take() else { throw SystemError(.system, "there is no worker") }
        let response: [UInt8]
        do throws(JQSocket.Failure) {
            try worker.socket.send(request)
            response = try worker.socket.receive(limit: resultBytes)
        } catch {
            throw SystemError(.system, words(about: error, worker))
        }
        self.worker = consume worker
        guard response.first == JQRequest.failure else { return Array(response.dropFirst()) }
        throw SystemError(.system, String(decoding: response.dropFirst(), as: UTF8.self))
    }

    /// Says why a worker, which is killed next, has not responded.
    private func words(about failure: JQSocket.Failure, _ worker: borrowing Worker) -> String {
        switch failure {
        case .tooLong: return "the program gives more than \(resultBytes >> 20) MiB of results"
        case .stopped: return "the program's process is stopped"
        case .timedOut: return "the program's process does not respond"
        case .ended: break
        }
        var end = unsafe siginfo_t()
        unsafe waitid(P_PID, id_t(worker.process), &end, WEXITED | WNOWAIT)
        // Later a worker exits only with a sanitizer, whose allocator ends it when memory runs out.
        if !worker.isReady, unsafe end.si_code == CLD_EXITED {
            return "cannot start \(executable) as a worker: it does not serve \(JQWorker.command)"
        }
        return unsafe end._sifields._sigchld.si_status == SIGPROF
            ? "the program needs more than \(JQWorker.maximumSeconds) s for a message"
            : "the program needs more than \(memoryBytes >> 20) MiB for a message, or nests too deep"
    }
}
