internal import CJQ
internal import Glibc
internal import System

/// The process that runs libjq, and the socket to it. Its owner is one ``JQProgram``.
struct JQWorkerProcess: Equatable {
    let descriptor: Int32
    private let process: pid_t

    static let none = JQWorkerProcess(descriptor: -1, process: 0)

    private init(descriptor: Int32, process: pid_t) {
        self.descriptor = descriptor
        self.process = process
    }

    init(_ executable: String, _ limits: JQLimits) throws(JQError) {
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
        let words = [executable, JQWorker.command, String(limits.memoryBytes), String(limits.seconds)]
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
        descriptor = ends[0]
        self.process = process
    }

    /// Ends the worker at once.
    func kill() {
        guard process > 0 else { return }
        _ = Glibc.kill(process, SIGKILL)
        _ = waitForEnd()
    }

    /// Waits for the end of a worker whose socket is closed or broken.
    ///
    /// - Returns: its status, as wait(2) gives it.
    func waitForEnd() -> Int32 {
        close(descriptor)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
        return status
    }
}
