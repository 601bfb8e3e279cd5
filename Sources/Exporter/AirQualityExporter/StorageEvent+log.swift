import Storage
import System

extension StorageEvent {
    func log(to logger: Logger, path: String?) {
        let file: Logger.Metadata = ["file": path ?? ""]
        switch self {
        case .created: logger.info("Storage file created", metadata: file)
        case .restored(let cities, let leftOut):
            let counts: Logger.Metadata = ["cities": "\(cities)", "left_out": "\(leftOut)"]
            let reason: Logger.Metadata = ["reason": "deleted: beyond --city.limit"]
            logger.log(
                level: leftOut > 0 ? .warning : .info, "Storage file restored",
                metadata: file + counts + (leftOut > 0 ? reason : [:]))
        case .recovered: logger.info("Storage file writable again, nothing was lost", metadata: file)
        case .recreated:
            logger.warning("Storage file was changed by another process: recreated from memory", metadata: file)
        case .failing(let reason):
            logger.error(
                "Storage file not writable: serving from memory, retrying", metadata: file + ["err": reason])
        case .quarantined(let movedTo, let reason):
            logger.error(
                "Storage file moved aside, new file created",
                metadata: file + ["moved_to": movedTo, "err": reason])
        }
    }
}
