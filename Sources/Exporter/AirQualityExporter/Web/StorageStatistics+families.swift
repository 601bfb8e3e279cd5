import Exposition
import Storage

extension StorageStatistics {
    static let families: [Family<StorageStatistics>] = [
        Family("airquality_exporter_storage_errors_total", .counter, "Failed attempts to write the storage file.") {
            Double($0.errorCount)
        },
        Family(
            "airquality_exporter_storage_last_write_timestamp_seconds", .gauge,
            "When the storage file was last written, in seconds since the Unix epoch."
        ) { $0.lastWriteAt.map { Double($0) / 1000 } },
    ]
}
