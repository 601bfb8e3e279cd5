internal import Bytes
internal import Glibc

/// Linux's statistics of this process; a value that cannot be read is `nil`.
public struct ProcessStatistics: Sendable, Equatable {
    /// User and system time, in seconds.
    public var cpuSeconds: Double?
    public var threads: Int?
    /// Start time of the process, seconds since the Unix epoch.
    public var startTime: Double?
    public var virtualMemoryBytes: UInt64?
    /// The limit on the address space; `UInt64.max` when there is none.
    public var maximumVirtualMemoryBytes: UInt64?
    public var residentMemoryBytes: UInt64?
    /// Resident memory that no file backs: the heap and the stacks. (`mallinfo2` would walk the allocator's free lists
    /// under its lock.)
    public var heapBytes: UInt64?
    public var openFileDescriptors: Int?
    /// The soft limit; `UInt64.max` when there is none.
    public var maximumFileDescriptors: UInt64?
    /// IP payloads of the whole network namespace, as other exporters report them for the process.
    public var networkReceiveBytes: UInt64?
    public var networkTransmitBytes: UInt64?

    /// Reads all values now, in some 30 µs; any thread.
    public static func current() -> ProcessStatistics {
        var statistics = ProcessStatistics()
        if let stat = readKernelText("/proc/self/stat").flatMap(ProcessStat.init) {
            let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
            statistics.cpuSeconds = Double(stat.cpuTicks) / ticksPerSecond
            statistics.threads = stat.threads
            statistics.virtualMemoryBytes = stat.virtualMemoryBytes
            statistics.startTime = bootTime + Double(stat.startTicks) / ticksPerSecond
        }
        if let memory = readKernelText("/proc/self/statm").flatMap(ProcessMemoryPages.init) {
            let pageBytes = UInt64(sysconf(Int32(_SC_PAGESIZE)))
            statistics.residentMemoryBytes = memory.resident * pageBytes
            statistics.heapBytes = (memory.resident - min(memory.shared, memory.resident)) * pageBytes
        }
        if let octets = readKernelText("/proc/self/net/netstat").flatMap(NetworkOctets.init) {
            statistics.networkReceiveBytes = octets.received
            statistics.networkTransmitBytes = octets.sent
        }
        statistics.openFileDescriptors = countOpenFileDescriptors()
        statistics.maximumFileDescriptors = softLimit(RLIMIT_NOFILE)
        statistics.maximumVirtualMemoryBytes = softLimit(RLIMIT_AS)
        return statistics
    }

    /// Start time of the machine, seconds since the Unix epoch. Read once, so that the start of the process does not
    /// move when the clock is set.
    private static let bootTime: Double = {
        var sinceBoot = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
        let secondsSinceBoot = Double(sinceBoot.tv_sec) + Double(sinceBoot.tv_nsec) / 1e9
        return Double(currentTime()) / 1000 - secondsSinceBoot
    }()
}

/// The fields of `/proc/PID/stat` that are reported, see proc(5).
struct ProcessStat: Equatable {
    var cpuTicks: UInt64
    var threads: Int
    /// Clock ticks from the start of the machine to that of the process.
    var startTicks: UInt64
    var virtualMemoryBytes: UInt64

    /// `nil` when the text is not such a line.
    init?(_ text: [UInt8]) {
        // The program's name is in parentheses and may contain blanks and parentheses: the last one ends it.
        guard let nameEnd = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(nameEnd + 1)...].split(whereSeparator: isSeparator)
        // proc(5) counts from 1 and the first field after the name is number 3.
        func field(_ number: Int) -> UInt64? {
            fields.indices.contains(number - 3) ? decimalNumber(fields[number - 3]) : nil
        }
        guard let user = field(14), let system = field(15), let threads = field(20), let start = field(22),
            let virtualMemory = field(23)
        else { return nil }
        cpuTicks = user &+ system
        self.threads = Int(clamping: threads)
        startTicks = start
        virtualMemoryBytes = virtualMemory
    }
}

/// The fields of `/proc/PID/statm` that are reported, in pages.
struct ProcessMemoryPages: Equatable {
    var resident: UInt64
    /// Resident pages that files back.
    var shared: UInt64

    init?(_ text: [UInt8]) {
        let fields = text.split(whereSeparator: isSeparator)
        guard fields.count >= 3, let resident: UInt64 = decimalNumber(fields[1]),
            let shared: UInt64 = decimalNumber(fields[2])
        else { return nil }
        self.resident = resident
        self.shared = shared
    }
}

/// `InOctets` and `OutOctets` of `/proc/PID/net/netstat`.
struct NetworkOctets: Equatable {
    var received: UInt64
    var sent: UInt64

    /// The text has pairs of lines: a protocol's names, then their values in the same order.
    init?(_ text: [UInt8]) {
        let lines = text.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: Array("IpExt:".utf8)) }
        guard lines.count == 2 else { return nil }
        let names = lines[0].split(whereSeparator: isSeparator)
        let values = lines[1].split(whereSeparator: isSeparator)
        func value(_ name: String) -> UInt64? {
            guard let place = names.firstIndex(where: { $0.elementsEqual(name.utf8) }), place < values.count else {
                return nil
            }
            return decimalNumber(values[place])
        }
        guard let received = value("InOctets"), let sent = value("OutOctets") else { return nil }
        self.received = received
        self.sent = sent
    }
}

private func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") }

private func readKernelText(_ path: String) -> [UInt8]? { try? readFileBlocking(path, limit: 64 * 1024) }

private func softLimit(_ resource: __rlimit_resource) -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(Int32(resource.rawValue), &limit) == 0 else { return nil }
    return UInt64(limit.rlim_cur)
}

private func countOpenFileDescriptors() -> Int? {
    // Since Linux 6.2 the directory's size is the count.
    if let size = fileStatus("/proc/self/fd")?.st_size, size > 0 { return size }
    return countEntries(of: "/proc/self/fd").map { $0 - 1 }  // one is the directory itself, open for counting
}

/// The entries of a directory without `.` and `..`.
func countEntries(of path: String) -> Int? {
    guard let directory = unsafe opendir(path) else { return nil }
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    return count - 2
}
