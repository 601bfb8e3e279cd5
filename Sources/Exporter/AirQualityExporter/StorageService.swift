import AirQuality
import Storage
import System

/// Keeps the store in a file, and logs what happens to it.
struct StorageService: Sendable {
    let file: StorageFile
    private let path: String
    private let logger: Logger

    /// Opens the file and restores the store from it, before any feed runs.
    ///
    /// - Throws: when the program must not start with this file. Any other problem is logged, and the
    ///   exporter serves from memory.
    init(path: String, store: ReadingStore, logger: Logger) throws(SystemError) {
        (self.path, self.logger) = (path, logger)
        let restored = try StorageFile.open(path, store: store, now: currentTime)
        file = restored.file
        var metadata: Logger.Metadata = ["cities": "\(restored.cityCount)"]
        if restored.otherShardCount > 0 { metadata["other_shards_dropped"] = "\(restored.otherShardCount)" }
        if restored.skippedRows > 0 { metadata["skipped_rows"] = "\(restored.skippedRows)" }
        log(restored.outcome, metadata)
    }

    /// Writes until the file is told to stop; blocks.
    func run() { file.run { log($0) } }

    private func log(_ event: StorageEvent, _ details: Logger.Metadata = [:]) {
        let metadata = Logger.Metadata(dictionaryLiteral: ("file", path)).merging(details)
        switch event {
        case .created: logger.info("Storage file created", metadata: metadata)
        case .restored: logger.info("Storage file restored", metadata: metadata)
        case .recovered: logger.info("Storage file writable again, nothing was lost", metadata: metadata)
        case .recreated:
            logger.warning("Storage file was removed or replaced: recreated from memory", metadata: metadata)
        case .failing(let reason):
            logger.error(
                "Storage file not writable: serving from memory, retrying", metadata: metadata.merging(["err": reason]))
        case .quarantined(let movedTo, let reason):
            logger.error(
                "Storage file damaged: moved aside, new file created",
                metadata: metadata.merging(["moved_to": movedTo, "err": reason]))
        }
    }
}
