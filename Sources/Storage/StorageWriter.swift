/// Keeps the file up with what is in memory, one pass at a time, whatever happens to the file meanwhile.
struct StorageWriter: ~Copyable {
    /// What one pass did.
    struct Report {
        var events: [StorageEvent] = []
        var error: String?
        var hasWritten = false
    }

    private let configuration: StorageConfiguration
    /// Pages; a longer journal is moved into the file before its time.
    private let journalPageLimit: Int
    private var database: StorageDatabase?
    /// Everything up to this version of the memory is in the file; 0 for nothing.
    private var version: UInt64 = 0
    /// The file's rows give way to the next batch: they belong to another scale or make no sense.
    private var replacesAll: Bool
    private var isFailing: Bool
    private var unsyncedPageCount = 0
    private var unsyncedSince: ContinuousClock.Instant?
    private var setAsideAt: ContinuousClock.Instant?

    /// What is lost at most when the power fails.
    private static let syncInterval = Duration.seconds(60)
    /// A disk that damages every file must not be filled with them.
    private static let setAsideInterval = Duration.seconds(60)

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

    /// Says that the file has everything up to this version; not heeded where it has to be written anew.
    mutating func begin(since version: UInt64) {
        guard let isFresh = database?.isFresh else { return }
        if !isFresh, !replacesAll { self.version = version }
    }

    /// Asks what changed and writes it.
    ///
    /// - Parameter now: milliseconds since the Unix epoch.
    mutating func pass(now: Int64, changes: (_ since: UInt64) -> StorageBatch) -> Report {
        var report = Report()
        do throws(StorageRefusal) {
            try findFile(now: now, report: &report)
            try write(changes(version), report: &report)
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

    private mutating func findFile(now: Int64, report: inout Report) throws(StorageRefusal) {
        let hasMoved = database?.hasMoved ?? false
        if hasMoved { database.take()?.closeMoved() }
        guard database == nil else { return }
        version = 0
        unsyncedPageCount = 0
        unsyncedSince = nil
        let maySetAside = setAsideAt.map { $0.duration(to: .now) >= Self.setAsideInterval } ?? true
        let found = try FoundFile.open(configuration, now: now, maySetAside: maySetAside)
        if let setAside = found.setAside {
            setAsideAt = .now
            report.events.append(.setAside(movedTo: setAside.path, reason: setAside.reason))
        } else if hasMoved {
            report.events.append(.begunAgain)
        }
        // Whatever else it has stays: a disk that came late may hold a history that nobody has read yet.
        replacesAll = found.database.scale != configuration.scale
        database = .some(found.database)
    }

    private mutating func write(_ batch: StorageBatch, report: inout Report) throws(StorageRefusal) {
        if !batch.isEmpty || replacesAll {
            do throws(SQLiteError) {
                try database?.write(
                    batch, capacity: configuration.capacity, replacing: replacesAll ? configuration.scale : nil)
            } catch {
                // A full disk leaves the file as it was. After anything else it is looked at anew.
                if !error.isFull { database = nil }
                throw StorageRefusal(error)
            }
            report.hasWritten = true
            replacesAll = false
        }
        version = batch.version
    }

    private mutating func syncWhenDue() throws(StorageRefusal) {
        unsyncedPageCount += database?.takeWrittenPageCount() ?? 0
        guard unsyncedPageCount > 0 else { return }
        let since = unsyncedSince ?? .now
        unsyncedSince = since
        guard unsyncedPageCount >= journalPageLimit || since.duration(to: .now) >= Self.syncInterval
        else { return }
        do throws(SQLiteError) {
            try database?.checkpoint()
        } catch {
            if !error.isFull { database = nil }
            throw StorageRefusal(error)
        }
        unsyncedPageCount = 0
        unsyncedSince = nil
    }
}
