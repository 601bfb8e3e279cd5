import Foundation
import System

/// A process with empty input, whose output goes to files; killed when this object is released.
///
/// Foundation's `Process` is not used: it copies whole entries of /proc/self/fd, more than readdir(3) gave, and crashes
/// now and then with more than a thousand of them.
final class ChildProcess {
    let identifier: pid_t
    /// As `waitpid` gives it; `nil` while the process runs.
    private var status: Int32?

    /// Starts a program, which is looked for in `PATH` if its name has no slash.
    init(_ command: [String], in directory: String? = nil, output: String, errors: String) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, path) in [(STDIN_FILENO, "/dev/null"), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            let mode = descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, path, mode, 0o600)
        }
        // Sockets of tests; those that are not open do not matter.
        for descriptor in STDERR_FILENO + 1..<8192 {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        // A test may have blocked or ignored signals.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let variables = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        let words = ["env"] + (directory.map { ["--chdir", $0] } ?? []) + command
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var environment = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
            for index in unsafe environment.indices { unsafe free(environment[index]) }
        }
        var identifier: pid_t = 0
        let result = unsafe posix_spawn(&identifier, "/usr/bin/env", &actions, &attributes, &arguments, &environment)
        guard result == 0 else { throw SystemError(.system, "cannot start env: error \(result)") }
        self.identifier = identifier
    }

    deinit {
        guard isRunning else { return }
        kill(identifier, SIGKILL)
        _ = wait()
    }

    var isRunning: Bool { status(WNOHANG) == nil }

    /// Waits for the end, and returns the exit status, or 128 + the number of the signal.
    func wait() -> Int32 { status(0)! }

    private func status(_ options: Int32) -> Int32? {
        var found: Int32 = 0
        if status == nil, unsafe waitpid(identifier, &found, options) == identifier { status = found }
        return status.map { $0 & 0x7F == 0 ? $0 >> 8 & 0xFF : 128 + $0 & 0x7F }
    }
}
