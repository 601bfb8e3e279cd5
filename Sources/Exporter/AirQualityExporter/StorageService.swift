import AirQuality
import Storage
import System

/// Keeps the store in a file, and logs what happens to it.
final class StorageService: Sendable {
    private let file: StorageFile
    private let path: String
    private let logger: Logger

    /// Opens the file and restores the store from it, before any feed runs.
    ///
    /// - Throws: ``StorageError`` when the program must not start with this file. Any other problem is logged, and the
    ///   exporter serves from memory.
    init(path: String, store: ReadingStore, logger: Logger) throws(StorageError) {
        self.path = path
        self.logger = logger
        let restored = try StorageFile.open(path, store: store, now: currentTime)
        file = restored.file
        log(restored)
    }

    private func log(_ restored: RestoredStorage) {
        var metadata: Logger.Metadata = ["file": "\(path)", "cities": "\(restored.cityCount)"]
        if restored.otherShardCount > 0 { metadata["other_shards_dropped"] = "\(restored.otherShardCount)" }
        if restored.skippedRows > 0 { metadata["skipped_rows"] = "\(restored.skippedRows)" }
        switch restored.outcome {
        case .created: logger.info("Storage file created", metadata: metadata)
        case .restored: logger.info("Storage file restored", metadata: metadata)
        case .quarantined(let movedTo, let reason): logDamage(movedTo: movedTo, reason: reason, metadata)
        case .unavailable(let reason): logFailure(reason, metadata)
        }
    }

    /// Writes until ``stop()``; blocks.
    func run() { file.run(onEvent: log) }

    private func log(_ event: StorageEvent) {
        let file: Logger.Metadata = ["file": "\(path)"]
        switch event {
        case .failing(let reason): logFailure(reason, file)
        case .recovered: logger.info("Storage file writable again, nothing was lost", metadata: file)
        case .quarantined(let movedTo, let reason): logDamage(movedTo: movedTo, reason: reason, file)
        case .recreated:
            logger.warning("Storage file was removed or replaced: recreated from memory", metadata: file)
        }
    }

    private func logDamage(movedTo: String, reason: String, _ metadata: Logger.Metadata) {
        logger.error(
            "Storage file damaged: moved aside, new file created",
            metadata: metadata.merging(["moved_to": movedTo, "err": reason]))
    }

    private func logFailure(_ reason: String, _ metadata: Logger.Metadata) {
        logger.error(
            "Storage file not writable: serving from memory, retrying",
            metadata: metadata.merging(["err": reason]))
    }

    /// Has the last changes written; then ``run()`` returns.
    func stop() { file.stop() }

    var statistics: StorageStatistics { file.statistics }
}
