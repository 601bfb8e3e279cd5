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
    /// - Throws: when the program must not start with this file. Any other problem is logged, and the exporter serves
    ///   from memory.
    init(path: String, store: ReadingStore, logger: Logger) throws(SystemError) {
        self.path = path
        self.logger = logger
        file = try StorageFile(path, store: store, now: currentTime)
        log(file.outcome)
    }

    /// Writes until the file is told to stop; blocks.
    func run() { file.run { log($0) } }

    private func log(_ event: StorageEvent) {
        var metadata: Logger.Metadata = ["file": "\(path)"]
        switch event {
        case .created: logger.info("Storage file created", metadata: metadata)
        case .restored(let cities, let leftOut):
            metadata = metadata.merging(["cities": "\(cities)", "left_out": "\(leftOut)"])
            logger.info("Storage file restored", metadata: metadata)
        case .recovered: logger.info("Storage file writable again, nothing was lost", metadata: metadata)
        case .recreated:
            logger.warning("Storage file was changed by others: recreated from memory", metadata: metadata)
        case .failing(let reason):
            metadata = metadata.merging(["err": reason])
            logger.error("Storage file not writable: serving from memory, retrying", metadata: metadata)
        case .quarantined(let movedTo, let reason):
            metadata = metadata.merging(["moved_to": movedTo, "err": reason])
            logger.error("Storage file moved aside, new file created", metadata: metadata)
        }
    }
}
