internal import System

/// Keeps the file up to date with the memory, one pass at a time, whatever happens to the file meanwhile.
struct StorageWriter: ~Copyable {
    /// The result of one pass.
    struct Report {
        var events: [StorageEvent] = []
        var error: String?
        var hasWritten = false
    }

    private let configuration: StorageConfiguration
    /// Pages; a longer journal is moved into the file early.
    private let journalPageLimit: Int
    private var database: StorageDatabase?
    /// Everything up to this version of the memory is in the file; 0 for nothing.
    private var version: UInt64 = 0
    /// The next batch replaces all rows of the file: they belong to another scale or make no sense.
    private var replacesAll: Bool
    /// The trimming under way, and the city where it goes on.
    private var trimming: (trimming: StorageDatabase.Trimming, next: Int)?
    private var isFailing: Bool
    private var unsyncedPageCount = 0
    // Monotonic times.
    private var unsyncedSince: Duration?
    private var quarantinedAt: Duration?

    /// The most that a loss of power takes.
    private static let syncInterval = Duration.seconds(60)
    /// At most one damaged file is moved aside in this time, so that a bad disk does not fill up soon.
    private static let quarantineInterval = Duration.seconds(60)

    init(
        _ configuration: StorageConfiguration, database: consuming StorageDatabase?, replacesAll: Bool,
        journalPageLimit: Int = StorageDatabase.journalPageLimit
    ) {
        self.configuration = configuration
        self.journalPageLimit = journalPageLimit
        isFailing = database == nil
        self.database = database
        self.replacesAll = replacesAll
    }

    /// The file has everything up to this version. Ignored where the file has to be written anew.
    mutating func start(since version: UInt64) {
        guard let isNew = database?.isNew else { return }
        if !isNew, !replacesAll { self.version = version }
    }

    /// Asks what changed and writes it; and if the file is too long, writes a part of the memory once more.
    ///
    /// - Parameters:
    ///   - now: milliseconds since the Unix epoch.
    ///   - part: see ``StorageFile/run(since:changes:part:onEvent:)``.
    mutating func pass(
        now: Int64, changes: (_ since: UInt64) -> StorageBatch, part: ((_ first: Int) -> StoragePart)? = nil
    ) -> Report {
        var report = Report()
        do throws(StorageRefusal) {
            try openIfNeeded(now: now, report: &report)
            try write(changes(version), report: &report)
            if let part { try trim(part) }
            try syncWhenDue()
            if isFailing {
                isFailing = false
                report.events.append(.recovered)
            }
        } catch {
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

    private mutating func openIfNeeded(now: Int64, report: inout Report) throws(StorageRefusal) {
        let hasMoved = database?.hasMoved ?? false
        if hasMoved { database.take()?.closeMoved() }
        guard database == nil else { return }
        version = 0
        trimming = nil
        unsyncedPageCount = 0
        unsyncedSince = nil
        let mayQuarantine = quarantinedAt.map { monotonicTime() - $0 >= Self.quarantineInterval } ?? true
        let opened = try OpenedStorage.open(configuration, now: now, mayQuarantine: mayQuarantine)
        if let quarantined = opened.quarantined {
            quarantinedAt = monotonicTime()
            report.events.append(.quarantined(movedTo: quarantined.path, reason: quarantined.reason))
        } else if hasMoved {
            report.events.append(.recreated)
        }
        // Its rows stay if the scale is the same: a disk that came late may hold a history that nobody has read yet.
        replacesAll = opened.database.scale != configuration.scale
        database = .some(opened.database)
    }

    private mutating func write(_ batch: StorageBatch, report: inout Report) throws(StorageRefusal) {
        if !batch.isEmpty || replacesAll {
            do throws(SQLiteError) {
                try database?.write(batch, isWhole: version == 0, replacesAll: replacesAll)
            } catch {
                throw refusal(error)
            }
            report.hasWritten = true
            if replacesAll { trimming = nil }
            replacesAll = false
        }
        version = batch.version
    }

    private mutating func trim(_ part: (_ first: Int) -> StoragePart) throws(StorageRefusal) {
        guard trimming != nil || database?.isTooLong ?? false else { return }
        do throws(SQLiteError) {
            if trimming == nil, let begun = try database?.beginTrimming() { trimming = (begun, 0) }
            guard let (trimming, first) = trimming else { return }
            let part = part(first)
            try database?.trim(trimming, part.cities, isLast: part.next == nil)
            self.trimming = part.next.map { (trimming, $0) }
        } catch {
            throw refusal(error)
        }
    }

    /// A full disk leaves the file as it was. After any other error it is opened and checked again.
    private mutating func refusal(_ error: SQLiteError) -> StorageRefusal {
        if !error.isFull { database = nil }
        return StorageRefusal(error)
    }

    private mutating func syncWhenDue() throws(StorageRefusal) {
        unsyncedPageCount += database?.takeWrittenPageCount() ?? 0
        guard unsyncedPageCount > 0 else { return }
        let since = unsyncedSince ?? monotonicTime()
        unsyncedSince = since
        guard unsyncedPageCount >= journalPageLimit || monotonicTime() - since >= Self.syncInterval
        else { return }
        do throws(SQLiteError) {
            try database?.checkpoint()
        } catch {
            throw refusal(error)
        }
        unsyncedPageCount = 0
        unsyncedSince = nil
    }
}
