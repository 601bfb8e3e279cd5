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
        var statistics = ProcessStatistics(
            stat: readKernelText("/proc/self/stat"), memory: readKernelText("/proc/self/statm"),
            network: readKernelText("/proc/self/net/netstat"))
        statistics.openFileDescriptors = countOpenFileDescriptors()
        statistics.maximumFileDescriptors = softLimit(RLIMIT_NOFILE)
        statistics.maximumVirtualMemoryBytes = softLimit(RLIMIT_AS)
        return statistics
    }

    /// Reads texts of `/proc`, see proc(5).
    init(stat: [UInt8], memory: [UInt8], network: [UInt8]) {
        // The program's name is in parentheses and may contain blanks and parentheses: the last one ends it. proc(5)
        // counts from 1, and the first field after the name is number 3.
        let nameEnd = stat.lastIndex(of: UInt8(ascii: ")")) ?? stat.endIndex
        let process = [nil, nil] + numbers(stat[nameEnd...])
        if process.count > 23 {
            let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
            if let user = process[14], let system = process[15] { cpuSeconds = Double(user &+ system) / ticksPerSecond }
            threads = process[20].map { Int(clamping: $0) }
            startTime = process[22].map { Self.bootTime + Double($0) / ticksPerSecond }
            virtualMemoryBytes = process[23]
        }
        let pages = numbers(memory[...])
        let pageBytes = UInt64(sysconf(Int32(_SC_PAGESIZE)))
        if pages.count > 2, let resident = pages[1], let ofFiles = pages[2] {
            residentMemoryBytes = resident &* pageBytes
            heapBytes = (resident - min(ofFiles, resident)) &* pageBytes
        }
        // Pairs of lines: a protocol's names, then their values in the same order.
        let lines = network.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: "IpExt:".utf8) }
        if lines.count == 2 {
            let names = lines[0].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            let octets = Dictionary(zip(names, numbers(lines[1]))) { first, _ in first }
            networkReceiveBytes = octets["InOctets"] ?? nil
            networkTransmitBytes = octets["OutOctets"] ?? nil
        }
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

/// The fields of a line, `nil` for each that is no whole number.
private func numbers(_ line: ArraySlice<UInt8>) -> [UInt64?] {
    line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map { decimalNumber($0) }
}

private func readKernelText(_ path: String) -> [UInt8] { (try? readFileBlocking(path, limit: 64 * 1024)) ?? [] }

private func softLimit(_ resource: __rlimit_resource) -> UInt64? {
    var limit = rlimit()
    guard unsafe getrlimit(Int32(resource.rawValue), &limit) == 0 else { return nil }
    return UInt64(limit.rlim_cur)
}

private func countOpenFileDescriptors() -> Int? {
    guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    // Without ".", ".." and the directory itself, open for counting.
    return count - 3
}
