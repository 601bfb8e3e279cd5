import Exposition
import System

extension ProcessStatistics {
    static let families: [Family<Self>] = [
        family("process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds."),
        family("process_heap_bytes", .gauge, "Process heap size in bytes."),
        family("process_max_fds", .gauge, "Maximum number of open file descriptors."),
        family(
            "process_network_receive_bytes_total", .counter, "Bytes received in the network namespace of the process."),
        family(
            "process_network_transmit_bytes_total", .counter, "Bytes sent in the network namespace of the process."),
        family("process_open_fds", .gauge, "Number of open file descriptors."),
        family("process_resident_memory_bytes", .gauge, "Resident memory size in bytes."),
        family("process_start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds."),
        family("process_threads", .gauge, "Number of OS threads in the process."),
        family("process_virtual_memory_bytes", .gauge, "Virtual memory size in bytes."),
        family(
            "process_virtual_memory_max_bytes", .gauge, "Maximum amount of virtual memory available in bytes."),
    ]

    private static func family(_ name: String, _ kind: MetricFamily.Kind, _ help: String) -> Family<Self> {
        Family(name, kind, help) { $0.values[name] }
    }
}
