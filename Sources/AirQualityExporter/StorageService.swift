import AirQuality
import Logging
import Storage
import System

/// Keeps the store in a file, and says in the log how that goes.
final class StorageService: Sendable {
    private let file: StorageFile
    private let path: String
    private let store: ReadingStore
    private let logger: Logger
    /// The store's version with what was restored in it, and nothing else.
    private let restoredVersion: UInt64

    /// Opens the file and restores the store from it, before any feed runs.
    ///
    /// - Throws: ``StorageError`` when the program must not go on with this file; any other trouble is logged, and the
    ///   exporter serves from memory.
    init(path: String, store: ReadingStore, logger: Logger) throws(StorageError) {
        self.path = path
        self.store = store
        self.logger = logger
        let rules = store.rules
        let opening = try StorageFile.open(
            StorageConfiguration(path: path, capacity: rules.history.capacity, scale: rules.scale.name),
            now: currentTime)
        file = opening.file
        let isSameScale = opening.scale == rules.scale.name
        store.restore(
            opening.cities.map {
                SavedCity($0, scale: rules.scale, hysteresis: rules.hysteresis, isSameScale: isSameScale)
            })
        store.beginSaving()
        restoredVersion = store.snapshot().version
        log(opening)
    }

    private func log(_ opening: StorageOpening) {
        var metadata: Logger.Metadata = ["file": "\(path)", "cities": "\(opening.cities.count)"]
        if opening.skippedRows > 0 { metadata["skipped_rows"] = "\(opening.skippedRows)" }
        switch opening.outcome {
        case .fresh: logger.info("Storage file begun", metadata: metadata)
        case .restored: logger.info("Storage file restored", metadata: metadata)
        case .setAside(let movedTo, let reason):
            metadata["moved_to"] = "\(movedTo)"
            metadata["err"] = "\(reason)"
            logger.error("Storage file is damaged: it was set aside and a fresh one begun", metadata: metadata)
        case .unavailable(let reason):
            metadata["err"] = "\(reason)"
            logger.error("Storage file cannot be written: serving from memory, trying on", metadata: metadata)
        }
    }

    /// Writes until ``stop()``; blocks.
    func run() {
        file.run(
            since: restoredVersion,
            changes: { since in
                let changes = store.unsavedChanges(since: since)
                return StorageBatch(
                    version: changes.version, cities: changes.cities.map(StoredCity.init), removed: changes.removed)
            },
            onEvent: log)
    }

    private func log(_ event: StorageEvent) {
        let file: Logger.Metadata = ["file": "\(path)"]
        switch event {
        case .failing(let reason):
            logger.error(
                "Storage file cannot be written: serving from memory, trying on",
                metadata: file.merging(["err": "\(reason)"]) { $1 })
        case .recovered:
            logger.info("Storage file is written again, nothing is missing", metadata: file)
        case .setAside(let movedTo, let reason):
            logger.error(
                "Storage file is damaged: it was set aside and a fresh one begun",
                metadata: file.merging(["moved_to": "\(movedTo)", "err": "\(reason)"]) { $1 })
        case .begunAgain:
            logger.warning("Storage file was removed or replaced: begun again from memory", metadata: file)
        }
    }

    /// Has the last changes written; then ``run()`` returns.
    func stop() { file.stop() }

    var report: ExporterReport.Storage {
        let statistics = file.statistics
        return ExporterReport.Storage(errors: statistics.errorCount, lastWriteAt: statistics.lastWriteAt)
    }
}
