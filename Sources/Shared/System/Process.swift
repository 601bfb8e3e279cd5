internal import CLinux
internal import Glibc

/// Returns the arguments of the process as the C runtime passed them, without the program name; `nil` for each that is
/// not UTF-8, because a repaired text would name another file or send another password.
///
/// Swift's `CommandLine.arguments` is empty without `/proc`, or if a preloaded library has moved the environment: a
/// program would ignore its flags, and serve without the password that they name.
public func processArguments() -> [String?] {
    (0..<CLinux_argumentCount()).dropFirst().map { unsafe String(validatingCString: CLinux_argument($0)) }
}

/// The environment variables of the process.
public struct EnvironmentVariables: Sendable {
    /// Variables in UTF-8, by name.
    public var values: [String: String] = [:]
    /// Names of the other variables, repaired.
    public var unreadable: [String] = []

    public init() {}

    /// Nothing in this process may change the environment.
    public static func current() -> EnvironmentVariables {
        var variables = EnvironmentVariables()
        var next = unsafe environ
        while let line = unsafe next.pointee {
            let text = unsafe String(cString: line)
            let isReadable = unsafe String(validatingCString: line) != nil
            if let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
                let name = String(text[..<sign])
                if isReadable {
                    variables.values[name] = String(text[text.utf8.index(after: sign)...])
                } else {
                    variables.unreadable.append(name)
                }
            }
            unsafe next += 1
        }
        return variables
    }
}

/// Returns the environment variables in UTF-8.
public func environmentVariables() -> [String: String] { EnvironmentVariables.current().values }

/// Ends the process at once, without running destructors or waiting for threads. Corresponds to `_exit`.
public func endProcess(status: Int32) -> Never { _exit(status) }

/// Makes `free` return large blocks to the system at once. Otherwise malloc(3) raises its thresholds when a block of
/// some megabytes is first freed, and each thread retains up to twice as much for good.
///
/// Allows four arenas in all. The default is eight per processor, and each retains some megabytes after a burst of
/// connections.
public func returnFreedMemory() {
    mallopt(M_ARENA_MAX, 4)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    mallopt(M_TRIM_THRESHOLD, 4 << 20)
}
