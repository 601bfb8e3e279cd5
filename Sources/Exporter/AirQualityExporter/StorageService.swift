import AirQuality
import Bytes
import Storage
import Synchronization
import System

/// Keeps the store in a file, and logs what happens to it.
final class StorageService: Sendable {
    private let file: StorageFile
    private let path: String
    private let store: ReadingStore
    private let logger: Logger
    /// The store's version right after the restore.
    private let restoredVersion: UInt64
    private let isStopping = Atomic(false)
    /// Points that are written again at once when the file is trimmed: some milliseconds.
    private static let pointsPerPart = 50_000

    /// Opens the file and restores the store from it, before any feed runs.
    ///
    /// - Throws: ``StorageError`` when the program must not start with this file. Any other problem is logged, and the
    ///   exporter serves from memory.
    init(path: String, store: ReadingStore, logger: Logger) throws(StorageError) {
        self.path = path
        self.store = store
        self.logger = logger
        let rules = store.rules
        let limits = StorageLimits(maximumNameBytes: CityName.maximumCount, maximumIndex: AirQualityIndex.maximum)
        let restored = try StorageFile.open(
            StorageConfiguration(
                path: path, capacity: rules.history.capacity, scale: rules.scale.name, limits: limits),
            now: currentTime)
        file = restored.file
        let isSameScale = restored.scale == rules.scale.name
        store.restore(
            restored.cities.map {
                SavedCity($0, scale: rules.scale, hysteresis: rules.hysteresis, isSameScale: isSameScale)
            })
        let others = rules.shard.map { shard in
            restored.cities.map(\.name).filter { !shard.contains($0.span) }
        }
        store.beginSaving(removing: others ?? [])
        restoredVersion = store.snapshot().version
        log(restored, ofOtherShards: others?.count ?? 0)
    }

    private func log(_ restored: RestoredStorage, ofOtherShards others: Int) {
        var metadata: Logger.Metadata = ["file": "\(path)", "cities": "\(restored.cities.count - others)"]
        if others > 0 { metadata["other_shards_dropped"] = "\(others)" }
        if restored.skippedRows > 0 { metadata["skipped_rows"] = "\(restored.skippedRows)" }
        switch restored.outcome {
        case .created: logger.info("Storage file created", metadata: metadata)
        case .restored: logger.info("Storage file restored", metadata: metadata)
        case .quarantined(let movedTo, let reason): logDamage(movedTo: movedTo, reason: reason, metadata)
        case .unavailable(let reason): logFailure(reason, metadata)
        }
    }

    /// Writes until ``stop()``; blocks.
    func run() {
        file.run(
            since: restoredVersion,
            changes: { since in
                let changes = store.unsavedChanges(
                    since: since, at: isStopping.load(ordering: .acquiring) ? .max : currentTime())
                return StorageBatch(
                    version: changes.version, cities: changes.cities.map(StoredCity.init), removed: changes.removed)
            },
            part: { [self] first in
                let (cities, next) = store.savedCities(from: first, pointCount: Self.pointsPerPart)
                return StoragePart(cities: cities.map(StoredCity.init), next: next)
            },
            onEvent: log)
    }

    private func log(_ event: StorageEvent) {
        let file: Logger.Metadata = ["file": "\(path)"]
        switch event {
        case .failing(let reason): logFailure(reason, file)
        case .recovered: logger.info("Storage file written again, nothing is missing", metadata: file)
        case .quarantined(let movedTo, let reason): logDamage(movedTo: movedTo, reason: reason, file)
        case .recreated:
            logger.warning("Storage file was removed or replaced: created again from memory", metadata: file)
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
    func stop() {
        isStopping.store(true, ordering: .releasing)
        file.stop()
    }

    var report: ExporterReport.Storage {
        let statistics = file.statistics
        return ExporterReport.Storage(errors: statistics.errorCount, lastWriteAt: statistics.lastWriteAt)
    }
}
