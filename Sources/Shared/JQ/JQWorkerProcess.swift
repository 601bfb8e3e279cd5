internal import CJQ
internal import Glibc
internal import System

/// The process that runs libjq, and the socket to it. It ends with its owner.
struct JQWorkerProcess: ~Copyable {
    let descriptor: Int32
    private let process: pid_t

    init(_ executable: String, _ arguments: [String]) throws(JQError) {
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
        var words: [UnsafeMutablePointer<CChar>?] = unsafe ([executable] + arguments).map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
        }
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var process: pid_t = 0
        let status = unsafe posix_spawn(&process, executable, &actions, nil, &words, &environment)
        guard status == 0 else {
            close(ends[0])
            throw JQError("cannot start \(executable) as a worker: \(describe(errorNumber: status))")
        }
        descriptor = ends[0]
        self.process = process
    }

    deinit {
        kill(process, SIGKILL)
        close(descriptor)
        waitpid(process, nil, 0)
    }

    /// Waits for the end of a worker that has closed its socket.
    ///
    /// - Returns: the signal that ended it; 0 = none.
    consuming func waitForEnd() -> Int32 {
        var status: Int32 = 0
        close(descriptor)
        unsafe waitpid(process, &status, 0)
        discard self
        return status & 0x7F
    }
}
