import Exposition
import System

extension ProcessStatistics {
    static let families: [Family<Self>] = [
        Family("process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.") {
            $0.cpuSeconds
        },
        family("process_heap_bytes", "Process heap size in bytes.", \.heapBytes),
        family("process_max_fds", "Maximum number of open file descriptors.", \.maximumFileDescriptors),
        family(
            "process_network_receive_bytes_total", "Bytes received in the network namespace of the process.",
            \.networkReceiveBytes, .counter),
        family(
            "process_network_transmit_bytes_total", "Bytes sent in the network namespace of the process.",
            \.networkTransmitBytes, .counter),
        family("process_open_fds", "Number of open file descriptors.", \.openFileDescriptors),
        family("process_resident_memory_bytes", "Resident memory size in bytes.", \.residentMemoryBytes),
        Family("process_start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds.") {
            $0.startTime
        },
        family("process_threads", "Number of OS threads in the process.", \.threads),
        family("process_virtual_memory_bytes", "Virtual memory size in bytes.", \.virtualMemoryBytes),
        family(
            "process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.",
            \.maximumVirtualMemoryBytes),
    ]

    private static func family<Number: BinaryInteger & SendableMetatype>(
        _ name: String, _ help: String, _ number: @escaping @Sendable (Self) -> Number?,
        _ kind: MetricFamily.Kind = .gauge
    ) -> Family<Self> {
        Family(name, kind, help) { number($0).map { Double($0) } }
    }
}
