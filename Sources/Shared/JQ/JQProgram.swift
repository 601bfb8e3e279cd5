internal import Glibc
public import System

/// A program in jq's language, which makes elements of a message.
///
/// libjq runs in a process of its own, the worker: this executable once more, without environment, files and standard
/// error. Within one step libjq cannot be interrupted, ends the process when memory is short, and follows nesting on
/// the stack. The kernel bounds what the worker takes and ends it; the next message gets a new one. Used from one
/// thread at a time.
public struct JQProgram: ~Copyable {
    private let text: String
    /// Memory of the worker for its data: libjq takes about fourteen times the message.
    private let memoryBytes: Int
    /// Bytes of the results for a message, which this process takes.
    private let resultBytes: Int
    private let executable: String
    private var worker: Worker?

    /// The owner of a worker, which ends with it.
    struct Worker: ~Copyable {
        let socket: JQSocket
        let process: pid_t

        deinit {
            kill(process, SIGKILL)
            close(socket.descriptor)
            waitpid(process, nil, 0)
        }
    }

    /// Compiles the program, in some 30 ms.
    ///
    /// - Parameters:
    ///   - messageBytes: the length of the longest message.
    ///   - executable: a program that calls ``JQWorker/run(_:)`` when it is started with ``JQWorker/command``.
    public init(
        _ text: String, messageBytes: Int = 4 << 20, executable: String = "/proc/self/exe"
    ) throws(SystemError) {
        self.text = text
        memoryBytes = 64 << 20 + 16 * messageBytes
        resultBytes = max(1 << 20, messageBytes)
        self.executable = executable
        try startWorker()
    }

    /// Runs the program on each JSON text of the message.
    ///
    /// - Parameter message: UTF-8; JSON that libjq cannot read is an error.
    /// - Returns: one JSON array of all results, those that are arrays as their elements; empty = no result.
    public mutating func run(_ message: Span<UInt8>) throws(SystemError) -> [UInt8] {
        // libjq takes a U+001E between two texts for the end of all; within one it is no JSON.
        let request = message.indices.map { message[$0] == 0x1E ? UInt8(ascii: "\n") : message[$0] }
        // One that was killed meanwhile has not seen the message.
        if worker?.socket.hasEnded ?? true { try startWorker() }
        return try ask(request)
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
        // A worker that was stopped uses no processor time.
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(ends[0], SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        worker = Worker(socket: JQSocket(descriptor: ends[0]), process: process)
        _ = try ask(Array(text.utf8))
    }

    private mutating func ask(_ request: [UInt8]) throws(SystemError) -> [UInt8] {
        if let socket = worker?.socket, socket.send(request), let response = socket.receive(limit: resultBytes) {
            guard response.first == UInt8(ascii: "!") else { return response }
            throw SystemError(.system, String(decoding: response.dropFirst(), as: UTF8.self))
        }
        worker = nil
        let needs = "\(JQWorker.maximumSeconds) s or \(memoryBytes >> 20) MiB for a message"
        let gives = "\(resultBytes >> 20) MiB of results"
        throw SystemError(.system, "the program needs more than \(needs), gives more than \(gives), or nests too deep")
    }
}
