internal import AirQuality
internal import Bytes
internal import Glibc
internal import System

/// Keeps the file up to date with the store, one pass at a time, whatever happens to the file meanwhile.
struct StorageWriter: ~Copyable {
    private let path: String
    private let store: ReadingStore
    private var database: StorageDatabase?
    private var identity: FileIdentity?
    /// Whether the file may have cities that the store has never had, as opposed to expired ones.
    private var isUnread = true
    var statistics = StorageStatistics()
    /// Monotonic time until which no further file is moved aside, so that a faulty disk does not fill up with them.
    private var quarantinedUntil: Duration = .zero

    /// How long the end of the process may wait for the deletion of old points. The next start deletes the rest.
    private static let lastEvictionTime = Duration.seconds(2)

    init(_ path: String, store: ReadingStore) {
        self.path = path
        self.store = store
    }

    var isFailing: Bool { database == nil }

    /// Opens the file. If it is new to this process, restores from it the cities that the store lacks. Moves a damaged
    /// file aside and creates a new one, at most once a minute.
    mutating func open(now: Int64) throws(StorageError) -> StorageEvent {
        let found = FileIdentity(path)
        do throws(StorageError) {
            return try openAsItIs(now: now)
        } catch let failure {
            let isOurs = found == identity
            let error = failure == .notADatabase && isOurs ? .damaged("it is damaged: it was overwritten") : failure
            // Another process may have found the same damage; the file that it created instead is not damaged.
            guard case .damaged(let reason) = error, found != nil, FileIdentity(path) == found,
                monotonicTime() >= quarantinedUntil
            else { throw error }
            let target = try moveAside(resolvedPath(path), now: now, reason: reason)
            quarantinedUntil = monotonicTime() + .seconds(60)
            statistics.errorCount += 1
            _ = try openAsItIs(now: now)
            return .quarantined(movedTo: target, reason: reason)
        }
    }

    private mutating func openAsItIs(now: Int64) throws(StorageError) -> StorageEvent {
        var opened = try StorageDatabase.open(path, cityLimit: store.rules.cityLimit)
        var (cities, leftOut) = try opened.read(store.rules)
        var failure: StorageError?
        do throws(StorageError) {
            try opened.requireWritable()
        } catch {
            failure = error
            // The counters stay in the file: `increase()` would count them again after the next start.
            for place in cities.indices {
                cities[place].changes.better = 0
                cities[place].changes.worse = 0
            }
        }
        opened.isForeign = isUnread || FileIdentity(path) != identity
        if opened.isForeign { store.restore(cities, at: now) }
        isUnread = false
        identity = FileIdentity(path)
        if let failure { throw failure }
        let isNew = opened.isNew
        database = .some(opened)
        return isNew ? .created : .restored(cities: cities.count, leftOut: leftOut)
    }

    /// Writes the changes, with `isLast` also counters and current readings. Deletes old points until the next
    /// write is due. Returns the events not yet reported.
    mutating func pass(now: Int64, isLast: Bool = false) -> [StorageEvent] {
        let nextWriteAt = monotonicTime() + (isLast ? Self.lastEvictionTime : StorageFile.writeInterval)
        let wasFailing = isFailing
        var events: [StorageEvent] = []
        do throws(StorageError) {
            let isChanged = database?.isChanged ?? false
            if isChanged {
                isUnread = true
                database.take()?.abandon()
            }
            if database == nil {
                // After the first error, the content is already known or cannot be read.
                if wasFailing, FileIdentity(path) != nil, !isWritable(path) { throw .readOnly }
                let outcome = try open(now: now)
                if case .quarantined = outcome {
                    events.append(outcome)
                } else if isChanged {
                    events.append(.recreated)
                }
            }
            let snapshot = store.snapshot(withHistories: true)
            if try database?.write(snapshot, isLast: isLast) == true { statistics.lastWriteAt = now }
            if wasFailing { events.append(.recovered) }
            // At least a part, however long the write took.
            while try database?.evictPart() == true, monotonicTime() < nextWriteAt {}
        } catch {
            database = nil
            if !wasFailing { events.append(.failing(reason: error.reason)) }
            statistics.errorCount += 1
        }
        return events
    }

    /// Moves the journal into the file and closes it.
    consuming func finish() { database.take()?.close() }
}

/// Renames a file and its journals, so that they can be examined and nothing is overwritten. Returns the new name.
private func moveAside(_ path: String, now: Int64, reason: String) throws(StorageError) -> String {
    var time: [UInt8] = []
    time.appendRFC3339(now)
    var target = "\(path).damaged-\(String(decoding: time.prefix(19).filter { isLetterOrDigit($0) }, as: UTF8.self))Z"
    while FileIdentity(target) != nil { target += "-2" }
    // The file itself comes last: if the process is killed in between, the next start finds it and continues.
    for suffix in ["-wal", "-shm", "-journal", ""] where FileIdentity(path + suffix) != nil {
        guard unsafe rename(path + suffix, target + suffix) == 0 else {
            throw .unavailable("\(reason), and it cannot be renamed: \(describe(errorNumber: errno))")
        }
    }
    return target
}
