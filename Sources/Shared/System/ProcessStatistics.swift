internal import Bytes
internal import Glibc

/// Linux's statistics of this process, under the standard `process_*` names; values that cannot be read are omitted.
public struct ProcessStatistics: Sendable, Equatable {
    public private(set) var values: [String: Double] = [:]

    /// Reads all values, which takes about 30 µs; any thread.
    public static func current() -> ProcessStatistics {
        var statistics = ProcessStatistics(
            stat: readKernelText("/proc/self/stat"), memory: readKernelText("/proc/self/statm"),
            network: readKernelText("/proc/self/net/netstat"))
        statistics.values["process_open_fds"] = countOpenFileDescriptors()
        statistics.values["process_max_fds"] = softLimit(RLIMIT_NOFILE)
        statistics.values["process_virtual_memory_max_bytes"] = softLimit(RLIMIT_AS)
        return statistics
    }

    /// Parses files of `/proc`; see proc(5).
    init(stat: [UInt8], memory: [UInt8], network: [UInt8]) {
        // The program name is in parentheses and may itself contain blanks and parentheses, so its end is the last
        // one. proc(5) counts from 1, and the first field after the name is number 3.
        let nameEnd = stat.lastIndex(of: UInt8(ascii: ")")) ?? stat.endIndex
        let process = [nil, nil] + numbers(stat[nameEnd...])
        if process.count > 23 {
            let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
            if let user = process[14], let system = process[15] {
                values["process_cpu_seconds_total"] = (user + system) / ticksPerSecond
            }
            values["process_threads"] = process[20]
            values["process_start_time_seconds"] = process[22].map { Self.bootTime + $0 / ticksPerSecond }
            values["process_virtual_memory_bytes"] = process[23]
        }
        let pages = numbers(memory[...])
        if pages.count > 2, let resident = pages[1], let ofFiles = pages[2] {
            let pageBytes = Double(sysconf(Int32(_SC_PAGESIZE)))
            values["process_resident_memory_bytes"] = resident * pageBytes
            // Memory without a file behind it: heap and stacks. `mallinfo2` would walk the free lists under a lock.
            values["process_heap_bytes"] = max(0, resident - ofFiles) * pageBytes
        }
        // Pairs of lines: the names of a protocol's counters, then their values. They count the whole network
        // namespace, as other exporters report it.
        let lines = network.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: "IpExt:".utf8) }
        if lines.count == 2 {
            let names = lines[0].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            let octets = Dictionary(zip(names, numbers(lines[1]))) { first, _ in first }
            values["process_network_receive_bytes_total"] = octets["InOctets"] ?? nil
            values["process_network_transmit_bytes_total"] = octets["OutOctets"] ?? nil
        }
    }

    /// Boot time in seconds since the Unix epoch. Read once, so that it does not move when the clock is set.
    private static let bootTime: Double = {
        var sinceBoot = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
        let secondsSinceBoot = Double(sinceBoot.tv_sec) + Double(sinceBoot.tv_nsec) / 1e9
        return Double(currentTime()) / 1000 - secondsSinceBoot
    }()
}

/// Splits a line into fields; `nil` for each that is not a whole number.
private func numbers(_ line: ArraySlice<UInt8>) -> [Double?] {
    line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map { word in
        let number: UInt64? = decimalNumber(word)
        return number.map { Double($0) }
    }
}

private func readKernelText(_ path: String) -> [UInt8] { (try? readFileBlocking(path, limit: 64 * 1024)) ?? [] }

/// The largest 64-bit number if there is no limit.
private func softLimit(_ resource: __rlimit_resource) -> Double? {
    var limit = rlimit()
    guard unsafe getrlimit(Int32(resource.rawValue), &limit) == 0 else { return nil }
    return Double(limit.rlim_cur)
}

private func countOpenFileDescriptors() -> Double? {
    guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(directory) }
    var count = 0.0
    while unsafe readdir(directory) != nil { count += 1 }
    // Excludes ".", ".." and the descriptor of the directory itself.
    return count - 3
}
