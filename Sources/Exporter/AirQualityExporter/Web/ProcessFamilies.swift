import Exposition
import Synchronization
import System

/// The process's figures by the second in which they were read: reading /proc costs more than a whole scrape.
final class RecentProcess: Sendable {
    private let last = Mutex<(second: Int64, statistics: ProcessStatistics)?>(nil)

    var current: ProcessStatistics {
        last.withLock { last in
            let second = monotonicTime().components.seconds
            if let last, last.second == second { return last.statistics }
            let statistics = ProcessStatistics.current()
            last = (second, statistics)
            return statistics
        }
    }
}

extension ProcessStatistics {
    static let families: [Family<ProcessStatistics>] = [
        Family("process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.") {
            $0.cpuSeconds
        },
        Family("process_heap_bytes", .gauge, "Process heap size in bytes.") { $0.heapBytes.map { Double($0) } },
        Family("process_max_fds", .gauge, "Maximum number of open file descriptors.") {
            $0.maximumFileDescriptors.map { Double($0) }
        },
        Family(
            "process_network_receive_bytes_total", .counter,
            "Bytes received in the network namespace of the process."
        ) { $0.networkReceiveBytes.map { Double($0) } },
        Family(
            "process_network_transmit_bytes_total", .counter, "Bytes sent in the network namespace of the process."
        ) { $0.networkTransmitBytes.map { Double($0) } },
        Family("process_open_fds", .gauge, "Number of open file descriptors.") {
            $0.openFileDescriptors.map { Double($0) }
        },
        Family("process_resident_memory_bytes", .gauge, "Resident memory size in bytes.") {
            $0.residentMemoryBytes.map { Double($0) }
        },
        Family(
            "process_start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds."
        ) { $0.startTime },
        Family("process_threads", .gauge, "Number of OS threads in the process.") { $0.threads.map { Double($0) } },
        Family("process_virtual_memory_bytes", .gauge, "Virtual memory size in bytes.") {
            $0.virtualMemoryBytes.map { Double($0) }
        },
        Family(
            "process_virtual_memory_max_bytes", .gauge, "Maximum amount of virtual memory available in bytes."
        ) { $0.maximumVirtualMemoryBytes.map { Double($0) } },
    ]
}
