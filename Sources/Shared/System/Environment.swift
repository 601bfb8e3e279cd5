internal import CStart
internal import Glibc

/// All environment variables. Nothing in this process changes the environment.
public func environmentVariables() -> [String: String] {
    var variables: [String: String] = [:]
    var next = unsafe environ
    while let line = unsafe next.pointee {
        let text = unsafe String(cString: line)
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        unsafe next += 1
    }
    return variables
}

/// The arguments that the process was started with, without its own name, as the C runtime passed them.
///
/// Swift's `CommandLine.arguments` is empty without `/proc`, or where a preloaded library has moved the environment: a
/// program would then run without its flags, and serve without the password that they name.
public func processArguments() -> [String] {
    (0..<CStart_argumentCount()).dropFirst().map { unsafe String(cString: CStart_argument($0)) }
}

/// Opens `/dev/null` in place of standard input, output and error where they are closed. Otherwise the first files and
/// sockets of the process would have their numbers, and lines of the log would go into them. Call it first of all; ends
/// the process with status 1 when there is no `/dev/null`.
public func openMissingStandardStreams() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
        // The lowest number that is free is this one.
        guard unsafe open("/dev/null", O_RDWR) == number else { endProcess(status: 1) }
    }
}

/// Ends the process at once: no destructor runs and no thread is waited for. Corresponds to `_exit`.
public func endProcess(status: Int32) -> Never { _exit(status) }
