internal import Glibc

/// Ends the process at once: no destructor runs and no thread is waited for. Corresponds to `_exit`.
public func endProcess(status: Int32) -> Never { _exit(status) }
