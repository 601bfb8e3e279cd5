internal import Glibc

/// The process's limit on open files (`RLIMIT_NOFILE`).
public enum OpenFileLimit {
    /// Descriptors reserved for uses other than connections; at most half of a low limit.
    static let reserve = 128

    /// Raises the soft limit to what the program needs. If the hard limit is lower, the error states both numbers.
    public static func require(_ needed: Int) throws(SystemError) {
        let limit = raise(to: needed)
        guard limit < needed else { return }
        let remedy = "raise it with ulimit -n, or LimitNOFILE= of a systemd unit"
        throw SystemError(.system, "the limit of open files is \(limit), at least \(needed) are needed: \(remedy)")
    }

    /// Raises the soft limit as far as the hard limit allows; returns how many of the connections fit.
    package static func raise(forConnections wanted: Int) -> Int {
        room(for: wanted, openFiles: raise(to: wanted + reserve))
    }

    static func room(for wanted: Int, openFiles: Int) -> Int {
        max(1, min(wanted, max(openFiles - reserve, openFiles / 2)))
    }

    private static func raise(to needed: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return needed }
        if limit.rlim_cur < rlim_t(needed) {
            limit.rlim_cur = min(rlim_t(needed), limit.rlim_max)
            _ = unsafe setrlimit(resource, &limit)
            _ = unsafe getrlimit(resource, &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}
