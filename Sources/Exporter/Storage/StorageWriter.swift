internal import AirQuality
internal import Bytes
internal import System

/// Keeps the file up to date with the store, one pass at a time, whatever happens to the file meanwhile. Changes that
/// could not be written are found again.
struct StorageWriter: ~Copyable {
    private let path: String
    private let store: ReadingStore
    private var database: StorageDatabase?
    /// The file that was opened last.
    private var identity: FileIdentity?
    /// Whether the file cannot be written, and the caller has been told so.
    private(set) var isFailing = false
    private(set) var statistics = StorageStatistics()
    /// Monotonic time; `nil` when no file was moved aside.
    private var movedAsideAt: Duration?

    init(_ path: String, store: ReadingStore) {
        self.path = path
        self.store = store
    }

    // MARK: Opening

    /// Opens the file and restores from it what the store does not know. A damaged one is moved aside and a new one
    /// created, at most once a minute, so that a bad disk does not fill up soon.
    ///
    /// - Parameter now: milliseconds since the Unix epoch.
    /// - Returns: created, restored, quarantined or failing.
    /// - Throws: for a file that the program must not use.
    mutating func open(now: Int64) throws(StorageError) -> StorageEvent {
        do throws(StorageError) {
            return try openOrMoveAside(now: now)
        } catch {
            if case .rejected = error { throw error }
            return fail(error)
        }
    }

    private mutating func fail(_ error: StorageError) -> StorageEvent {
        isFailing = true
        statistics.errorCount += 1
        return .failing(reason: error.reason)
    }

    private mutating func openOrMoveAside(now: Int64) throws(StorageError) -> StorageEvent {
        let found = FileIdentity(path)
        do throws(StorageError) {
            return try openAsItIs(now: now)
        } catch let failure {
            let isOurs = found == identity
            let error = failure == .notADatabase && isOurs ? .damaged("it is damaged: it was overwritten") : failure
            // Two processes may have found the same damage; the file that the other one has created is not damaged.
            guard case .damaged(let reason) = error, found != nil, FileIdentity(path) == found,
                movedAsideAt.map({ monotonicTime() - $0 >= .seconds(60) }) ?? true
            else { throw error }
            let target = try moveAside(resolvedPath(path), now: now, reason: reason)
            movedAsideAt = monotonicTime()
            statistics.errorCount += 1
            _ = try openAsItIs(now: now)
            return .quarantined(movedTo: target, reason: reason)
        }
    }

    private mutating func openAsItIs(now: Int64) throws(StorageError) -> StorageEvent {
        // The content is known after the first time.
        if isFailing, FileIdentity(path) != nil, !isWritable(path) { throw .unavailable("the file is read-only") }
        var opened = try StorageDatabase.open(path)
        let (cities, leftOut) = try opened.read(store.rules)
        store.restore(cities, at: now)
        try opened.begin()
        identity = FileIdentity(path)
        let isNew = opened.isNew
        database = .some(opened)
        return isNew ? .created : .restored(cities: cities.count, leftOut: leftOut)
    }

    // MARK: Writing

    /// Writes what changed.
    ///
    /// - Parameters:
    ///   - now: milliseconds since the Unix epoch.
    ///   - isLast: whether the counters and the current readings are written as well.
    /// - Returns: what the caller has not been told yet.
    mutating func pass(now: Int64, isLast: Bool = false) -> [StorageEvent] {
        var events: [StorageEvent] = []
        do throws(StorageError) {
            let isChanged = database?.isChanged ?? false
            if isChanged { database.take()?.abandon() }
            if database == nil {
                let outcome = try openOrMoveAside(now: now)
                if case .quarantined = outcome {
                    events.append(outcome)
                } else if isChanged {
                    events.append(.recreated)
                }
            }
            let snapshot = store.snapshot(withHistories: true)
            if try database?.write(snapshot, isLast: isLast) == true { statistics.lastWriteAt = now }
            if isFailing { events.append(.recovered) }
            isFailing = false
        } catch {
            // The file is opened and checked again.
            database = nil
            let wasFailing = isFailing
            let failure = fail(error)
            if !wasFailing { events.append(failure) }
        }
        return events
    }

    /// Moves the journal into the file and closes it.
    consuming func finish() { database.take()?.close() }
}

/// Renames a file and its journals, so that they can be examined and nothing is overwritten.
///
/// - Returns: the file's new name.
private func moveAside(_ path: String, now: Int64, reason: String) throws(StorageError) -> String {
    // As in 20261121T044945Z.
    var time: [UInt8] = []
    time.appendRFC3339(now)
    var target = "\(path).damaged-\(String(decoding: time.prefix(19).filter { isLetterOrDigit($0) }, as: UTF8.self))Z"
    while FileIdentity(target) != nil { target += "-2" }
    do throws(SystemError) {
        // The file itself last: if the process is killed in between, the next start finds it and goes on.
        for suffix in ["-wal", "-shm", "-journal", ""] where FileIdentity(path + suffix) != nil {
            try renameFile(path + suffix, to: target + suffix)
        }
    } catch {
        throw .unavailable("\(reason), and it cannot be renamed: \(error.reason)")
    }
    return target
}
