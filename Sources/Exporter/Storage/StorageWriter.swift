internal import AirQuality
internal import System

/// Keeps the file up to date with the store, one pass at a time, whatever happens to the file meanwhile.
struct StorageWriter: ~Copyable {
    /// The result of one pass.
    struct Report {
        var events: [StorageEvent] = []
        var error: String?
        var hasWritten = false
    }

    /// A removal of readings under way: where it goes on, and what it needs to know.
    private struct Cleaning {
        var next: StoredKey
        var end: Timestamp
        var oldest: [Int64: Timestamp]
    }

    private let path: String
    private let store: ReadingStore
    /// Pages; a longer journal is moved into the file early.
    private let journalPageLimit: Int
    private var database: StorageDatabase?
    /// Content of the file.
    private var mirror = StorageMirror()
    /// The next batch replaces everything in the file: it has another schema, another scale, or rows that make no sense.
    private var replacesAll = false
    private var cleaning: Cleaning?
    /// The newest reading of a city that is gone from the file, since the last cleaning.
    private var orphansUntil: Timestamp?
    private var isFailing = false
    private var unsyncedPageCount = 0
    // Monotonic times.
    private var cleanedAt = monotonicTime()
    private var unsyncedSince: Duration?
    private var quarantinedAt: Duration?

    /// The most that a loss of power takes.
    private static let syncInterval = Duration.seconds(60)
    /// So long that most pages are emptied at once: an emptied page is not written.
    private static let cleaningInterval = Duration.seconds(300)
    /// At most one damaged file is moved aside in this time, so that a bad disk does not fill up soon.
    private static let quarantineInterval = Duration.seconds(60)
    /// Readings that are written in one transaction, and looked at in one step of a cleaning: some tenths of a second.
    static let batchLimit = 100_000

    /// - Parameter isFailing: the caller has told already that the file cannot be written.
    init(
        _ path: String, store: ReadingStore, isFailing: Bool = false,
        journalPageLimit: Int = StorageDatabase.journalPageLimit
    ) {
        self.path = path
        self.store = store
        self.isFailing = isFailing
        self.journalPageLimit = journalPageLimit
    }

    /// Takes over an open file. The store has been given what is in it.
    ///
    /// - Parameter isStart: The store has nothing else, so that rows that make no sense can be removed by writing all anew.
    /// - Returns: how many cities the file is to forget because they are of other shards.
    @discardableResult
    mutating func take(_ opened: consuming OpenedStorage, isStart: Bool) -> Int {
        let content = opened.content
        replacesAll =
            opened.database.schema.version != StorageSchema.current.version
            || content.scale != store.rules.scale.name || isStart && content.skippedRows > 0
        mirror = replacesAll ? StorageMirror() : StorageMirror(content.cities, in: store.snapshot(withHistories: true))
        orphansUntil = content.orphansUntil
        database = .some(opened.database)
        return mirror.unwantedCount
    }

    /// Writes what changed.
    ///
    /// - Parameters:
    ///   - now: milliseconds since the Unix epoch.
    ///   - isLast: No current value waits.
    mutating func pass(now: Int64, isLast: Bool = false) -> Report {
        var report = Report()
        do throws(StorageError) {
            try openIfNeeded(now: now, report: &report)
            let snapshot = store.snapshot(withHistories: true)
            report.hasWritten = try write(snapshot, now: isLast ? .max : now)
            try clean(snapshot, isLast: isLast)
            try syncWhenDue()
            if isFailing {
                isFailing = false
                report.events.append(.recovered)
            }
        } catch {
            // A full disk leaves the file as it was. After any other error it is opened and checked again.
            if case .full = error {} else { database = nil }
            report.error = error.description
            if !isFailing {
                isFailing = true
                report.events.append(.failing(reason: error.description))
            }
        }
        return report
    }

    /// Moves the journal into the file and closes it.
    consuming func finish() {
        let hasAll = !isFailing
        database.take()?.closeComplete(hasAll: hasAll)
    }

    private mutating func openIfNeeded(now: Int64, report: inout Report) throws(StorageError) {
        let hasMoved = database?.hasMoved ?? false
        if hasMoved { database.take()?.closeMoved() }
        guard database == nil else { return }
        cleaning = nil
        unsyncedPageCount = 0
        unsyncedSince = nil
        let mayQuarantine = quarantinedAt.map { monotonicTime() - $0 >= Self.quarantineInterval } ?? true
        let opened = try OpenedStorage.open(path, rules: store.rules, now: now, mayQuarantine: mayQuarantine)
        if let quarantined = opened.quarantined {
            quarantinedAt = monotonicTime()
            report.events.append(.quarantined(movedTo: quarantined.path, reason: quarantined.reason))
        } else if hasMoved {
            report.events.append(.recreated)
        }
        // What it has stays: a disk that came late may hold a history that nobody has read yet.
        take(opened, isStart: false)
    }

    /// - Returns: whether there was anything to write.
    private mutating func write(_ snapshot: StoreSnapshot, now: Int64) throws(StorageError) -> Bool {
        var hasWritten = false
        while true {
            let changes = mirror.changes(to: snapshot, at: now, limit: replacesAll ? .max : Self.batchLimit)
            if replacesAll {
                try database?.replaceAll(with: changes, scale: store.rules.scale.name)
                orphansUntil = nil
            } else if !changes.isEmpty {
                try database?.write(changes)
            }
            if replacesAll || !changes.isEmpty { hasWritten = true }
            replacesAll = false
            mirror.apply(changes)
            if !changes.removed.isEmpty { orphansUntil = max(orphansUntil ?? .min, changes.removedUntil) }
            if changes.isComplete { return hasWritten }
        }
    }

    /// At times, and at the end, removes readings that memory does not have any more.
    private mutating func clean(_ snapshot: StoreSnapshot, isLast: Bool) throws(StorageError) {
        if isLast || cleaning == nil && monotonicTime() - cleanedAt >= Self.cleaningInterval {
            let oldest = mirror.oldestPoints(in: snapshot)
            let end = max(oldest.values.max() ?? .min, orphansUntil ?? .min)
            orphansUntil = nil
            cleanedAt = monotonicTime()
            cleaning = Cleaning(next: .first, end: end, oldest: oldest)
        }
        while let step = cleaning {
            let next = try database?.clean(
                after: step.next, upTo: step.end, limit: Self.batchLimit, oldest: step.oldest)
            cleaning = (next ?? nil).map { Cleaning(next: $0, end: step.end, oldest: step.oldest) }
            if !isLast { return }
        }
    }

    private mutating func syncWhenDue() throws(StorageError) {
        unsyncedPageCount += database?.takeWrittenPageCount() ?? 0
        guard unsyncedPageCount > 0 else { return }
        let since = unsyncedSince ?? monotonicTime()
        unsyncedSince = since
        guard unsyncedPageCount >= journalPageLimit || monotonicTime() - since >= Self.syncInterval else { return }
        try database?.checkpoint()
        unsyncedPageCount = 0
        unsyncedSince = nil
    }
}
