internal import CJQ
internal import Glibc
internal import System

/// The owner of a worker, which ends with it, and of the socket to it.
struct JQWorkerProcess: ~Copyable {
    private let socket: JQSocket
    private let process: pid_t

    init(_ executable: String, memoryBytes: Int) throws(JQError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw JQError("no socket for a worker: \(describe(errorNumber: errno))")
        }
        defer { close(ends[1]) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        let words = [executable, JQWorker.command, String(memoryBytes)]
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
        }
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var process: pid_t = 0
        let status = unsafe posix_spawn(&process, executable, &actions, nil, &arguments, &environment)
        guard status == 0 else {
            close(ends[0])
            throw JQError("cannot start \(executable) as a worker: \(describe(errorNumber: status))")
        }
        socket = JQSocket(descriptor: ends[0])
        self.process = process
    }

    deinit {
        kill(process, SIGKILL)
        close(socket.descriptor)
        waitpid(process, nil, 0)
    }

    /// - Returns: the response to a request; `nil` when the worker has ended.
    func ask(_ request: Span<UInt8>) -> Result<[UInt8], JQError>? {
        socket.send(request) ? socket.receive() : nil
    }
}
