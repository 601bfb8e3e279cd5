internal import Glibc

/// The process's limit of open files (`RLIMIT_NOFILE`).
package enum OpenFileLimit {
    /// Descriptors that connections leave to the rest of the process.
    static let reserve = 128

    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    /// Raises the soft limit to what so many connections need, where the hard limit allows it. Returns how many
    /// connections there may be.
    package static func raise(forConnections wanted: Int) -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(Self.resource, &limit) == 0 else { return wanted }
        let needed = rlim_t(wanted + reserve)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(needed, limit.rlim_max)
            _ = unsafe setrlimit(Self.resource, &limit)
            _ = unsafe getrlimit(Self.resource, &limit)
        }
        return limit.rlim_cur >= needed ? wanted : max(1, Int(limit.rlim_cur) - reserve)
    }
}
