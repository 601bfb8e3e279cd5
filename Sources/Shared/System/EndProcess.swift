internal import Glibc

/// Ends the process at once, without running destructors or waiting for threads. Corresponds to `_exit`.
public func endProcess(status: Int32) -> Never { _exit(status) }
