public import Exposition

/// Statistics of the storage file.
public struct StorageStatistics: Sendable, Equatable {
    /// Failed attempts to open, write or check the file.
    public var errorCount: UInt64 = 0
    /// Milliseconds since the Unix epoch, up to which the file is complete; `nil` before the first write.
    public var lastWriteAt: Int64?

    public static let families: [Family<StorageStatistics>] = [
        Family("airquality_exporter_storage_errors_total", .counter, "Failed attempts to write the storage file.") {
            Double($0.errorCount)
        },
        Family(
            "airquality_exporter_storage_last_write_timestamp_seconds", .gauge,
            "When the storage file was last written, in seconds since the Unix epoch."
        ) { $0.lastWriteAt.map { Double($0) / 1000 } },
    ]
}
