internal import Bytes
internal import Glibc

/// How many threads and processes this process may still start, by `ulimit -u` and the `pids` control group, which
/// systemd (`TasksMax=`) and container runtimes set.
public enum TaskLimit {
    /// Throws an error with both numbers if fewer threads and processes may be started than are needed.
    public static func require(_ needed: Int) throws(SystemError) {
        guard let left = left(), left < needed else { return }
        let remedy = "raise the limit with ulimit -u, TasksMax= of a systemd unit, or --pids-limit of a container"
        throw SystemError(.system, "\(left) more threads may be started, at least \(needed) are needed: \(remedy)")
    }

    /// Returns how many of the connections, with a thread each, fit beside the program's other threads.
    package static func room(forConnections wanted: Int) -> Int {
        left().map { OpenFileLimit.room(for: wanted, openFiles: $0) } ?? wanted
    }

    /// `nil` without a limit.
    static func left() -> Int? { [leftInControlGroups(), leftToUser()].compactMap(\.self).min() }

    /// The least room of the process's control group and those above it, as far as they are visible.
    ///
    /// - Parameters:
    ///   - file: names the groups of the process.
    ///   - mount: where the kernel shows them.
    static func leftInControlGroups(file: String = "/proc/self/cgroup", mount: String = "/sys/fs/cgroup") -> Int? {
        guard let text = try? readFileBlocking(file, limit: 64 << 10) else { return nil }
        var rooms: [Int] = []
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            // `0::/path` in version 2; in version 1 the names of the controllers are between the colons.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].isEmpty || fields[1].split(separator: ",").contains("pids") else {
                continue
            }
            let root = mount + (fields[1].isEmpty ? "" : "/pids")
            let names = fields[2].split(separator: "/")
            for depth in 0...names.count {
                let folder = ([root] + names.prefix(depth).map(String.init)).joined(separator: "/")
                guard let maximum = number(in: folder + "/pids.max"), let current = number(in: folder + "/pids.current")
                else { continue }
                rooms.append(max(0, maximum - current))
            }
        }
        return rooms.min()
    }

    /// The kernel does not apply the user's limit to root.
    private static func leftToUser() -> Int? {
        var limit = rlimit()
        let resource = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
        guard geteuid() != 0, unsafe getrlimit(resource, &limit) == 0, limit.rlim_cur < 1 << 20 else { return nil }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(resource, &limit)
        _ = unsafe getrlimit(resource, &limit)
        return max(0, Int(clamping: limit.rlim_cur) - taskCount(ofUser: getuid()))
    }

    /// Threads of all visible processes of a user.
    private static func taskCount(ofUser user: uid_t) -> Int {
        guard let folder = unsafe opendir("/proc") else { return 0 }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            // By address: an entry is shorter than its declaration, and must not be copied whole.
            let start = unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
            let name = unsafe String(cString: start.assumingMemoryBound(to: CChar.self))
            guard name.utf8.allSatisfy(isDigit),
                let status = try? readFileBlocking("/proc/\(name)/status", limit: 64 << 10)
            else { continue }
            // `Uid:` has the real user first, which the limit counts by.
            let lines = String(decoding: status, as: UTF8.self).split(separator: "\n").map { $0.split(separator: "\t") }
            func field(_ name: String) -> Substring? { lines.first { $0.first == name[...] }?.dropFirst().first }
            if field("Uid:").flatMap({ uid_t($0) }) == user { count += field("Threads:").flatMap { Int($0) } ?? 1 }
        }
        return count
    }

    /// `nil` if there is no such file, or it says `max`.
    private static func number(in path: String) -> Int? {
        (try? readFileBlocking(path, limit: 64)).flatMap { decimalNumber($0.prefix { isDigit($0) }) }
    }
}
