internal import Glibc
public import System

/// A jq program that turns a message into elements.
///
/// libjq runs in a worker process: this executable started again, without environment, files or standard error. libjq
/// cannot be interrupted within a step, ends the process when memory runs out, and recurses on the stack for nesting.
/// The kernel limits the worker's resources and kills it; the next message gets a new one. Not thread-safe.
public struct JQProgram: ~Copyable {
    private let text: String
    /// Limit on the worker's data in memory; libjq takes about 14 times the size of the message.
    private let memoryBytes: Int
    /// Limit on the size of the results for a message, which this process holds in memory.
    private let resultBytes: Int
    private let executable: String
    private var worker: Worker?

    /// A worker, which is killed when this value is destroyed.
    struct Worker: ~Copyable {
        let socket: JQSocket
        let process: pid_t

        deinit {
            kill(process, SIGKILL)
            close(socket.descriptor)
            waitpid(process, nil, 0)
        }
    }

    /// Compiles the program, which takes about 30 ms.
    ///
    /// - Parameters:
    ///   - messageBytes: maximum size of a message.
    ///   - executable: a program that calls ``JQWorker/run(_:)`` if its first argument is ``JQWorker/command``.
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
    /// - Returns: one JSON array of all results, with arrays replaced by their elements; empty if there are none.
    public mutating func run(_ message: Span<UInt8>) throws(SystemError) -> [UInt8] {
        // libjq stops at a U+001E between two texts; inside a text it is invalid JSON either way.
        let request = message.indices.map { message[$0] == 0x1E ? UInt8(ascii: "\n") : message[$0] }
        // A worker killed since the last message has not seen this one.
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
        // A stopped worker uses no CPU time, so its CPU limit never ends it.
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
