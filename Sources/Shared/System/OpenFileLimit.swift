internal import Glibc

/// The process's limit of open files (`RLIMIT_NOFILE`).
public enum OpenFileLimit {
    /// Descriptors kept for the rest of the process; half of them where there are few.
    static let reserve = 128

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    /// Raises the soft limit as far as the hard limit allows.
    ///
    /// - Returns: how many connections the limit has room for, at most `wanted`.
    package static func raise(forConnections wanted: Int) -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(Self.resource, &limit) == 0 else { return wanted }
        let needed = rlim_t(wanted + reserve)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(needed, limit.rlim_max)
            _ = unsafe setrlimit(Self.resource, &limit)
            _ = unsafe getrlimit(Self.resource, &limit)
        }
        return room(for: wanted, openFiles: Int(clamping: limit.rlim_cur))
    }
}

extension OpenFileLimit {
    /// Raises the soft limit to what the program needs before it serves anybody.
    /// - Throws: a `SystemError` with both numbers when the hard limit is lower.
    public static func require(_ needed: Int) throws(SystemError) {
        var limit = rlimit()
        guard unsafe getrlimit(Self.resource, &limit) == 0, limit.rlim_cur < rlim_t(needed) else { return }
        limit.rlim_cur = min(rlim_t(needed), limit.rlim_max)
        _ = unsafe setrlimit(Self.resource, &limit)
        guard limit.rlim_max < rlim_t(needed) else { return }
        throw SystemError(
            .configuration,
            "the limit of open files is \(limit.rlim_max), at least \(needed) are needed: "
                + "raise it with ulimit -n, or LimitNOFILE= of a systemd unit")
    }

    static func room(for wanted: Int, openFiles: Int) -> Int {
        max(1, min(wanted, max(openFiles - reserve, openFiles / 2)))
    }
}
