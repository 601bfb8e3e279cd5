internal import Synchronization
internal import System

/// Keeps cities and their history in a SQLite file, on a thread of its own.
///
/// At least once a second, the file requests the changes and writes them as one transaction. Changes that could not be
/// written are requested again, so a slow or failing disk delays the file but never the memory, and several changes of
/// a city are merged into one.
///
/// - After `kill -9`, the file lags the memory by at most one interval plus the time to write one batch. Once a minute
///   the file is synced, which delays the next batch for as long as the disk takes.
/// - After a loss of power the file is sound and at most a minute behind, on a disk that obeys `fsync`.
///
/// No other part of the process may open the file: closing it would give up its lock (POSIX, `fcntl`).
public final class StorageFile: Sendable {
    private let configuration: StorageConfiguration
    private let now: @Sendable () -> Int64
    private let state: Mutex<StorageStatistics>
    private let writer: Mutex<StorageWriter?>
    private let stopped: WakePipe

    /// Opens, checks and reads the file, and locks it against other processes until ``run(since:changes:part:onEvent:)`` has
    /// returned.
    ///
    /// A damaged file is moved aside. A file that cannot be written now is tried again later.
    ///
    /// - Parameter now: the wall clock, milliseconds since the Unix epoch.
    /// - Throws: what must end the start.
    public static func open(
        _ configuration: StorageConfiguration, now: @escaping @Sendable () -> Int64
    ) throws(StorageError) -> RestoredStorage {
        func failure(_ code: StorageError.Code, _ reason: String) -> StorageError {
            StorageError(code, "storage file \"\(configuration.path)\": \(reason)")
        }
        let stopped: WakePipe
        do throws(SystemError) {
            stopped = try WakePipe()
        } catch {
            throw failure(.system, error.reason)
        }
        do throws(StorageRefusal) {
            let opened = try OpenedStorage.open(configuration, now: now())
            let isNew = opened.database.isNew
            let content = isNew ? StorageContent() : opened.content
            let quarantined = opened.quarantined
            let replacesAll = !isNew && (content.scale != configuration.scale || content.skippedRows > 0)
            let writer = StorageWriter(configuration, database: opened.database, replacesAll: replacesAll)
            let file = StorageFile(configuration, now, writer, stopped, error: quarantined?.reason)
            let outcome: RestoredStorage.Outcome =
                if let quarantined {
                    .quarantined(movedTo: quarantined.path, reason: quarantined.reason)
                } else {
                    isNew ? .created : .restored
                }
            return RestoredStorage(outcome, file, content)
        } catch {
            switch error {
            case .inUse: throw failure(.inUse, error.description)
            case .foreign: throw failure(.foreign, error.description)
            case .newer: throw failure(.newerSchema, error.description)
            case .notAFile: throw failure(.notAFile, error.description)
            case .damaged, .unavailable:
                let writer = StorageWriter(configuration, database: nil, replacesAll: false)
                let file = StorageFile(configuration, now, writer, stopped, error: error.description)
                return RestoredStorage(
                    .unavailable(reason: error.description), file, StorageContent.ofReadOnlyFile(configuration))
            }
        }
    }

    private init(
        _ configuration: StorageConfiguration, _ now: @escaping @Sendable () -> Int64,
        _ writer: consuming sending StorageWriter, _ stopped: consuming WakePipe, error: String?
    ) {
        self.configuration = configuration
        self.now = now
        self.writer = Mutex(writer)
        self.stopped = stopped
        state = Mutex(StorageStatistics(errorCount: error == nil ? 0 : 1))
    }

    /// Writes until ``stop()``, and blocks the calling thread meanwhile. Once.
    ///
    /// - Parameters:
    ///   - version: of the memory right after it took in what was restored: what it has then need not be written. 0 when
    ///     the file is to be written anew. Ignored for a file that is new, of another scale or has skipped rows: the
    ///     memory replaces everything in such a file.
    ///   - changes: everything since a version, 0 for everything there is. On the calling thread.
    ///   - part: some of the cities, each with all of its points, from one on: 0, or where the part before ended. The
    ///     file asks for it when it is several times as long as it need be, to write all cities once more and to drop
    ///     the rest; without it the file becomes longer until its end. On the calling thread.
    ///   - onEvent: on the calling thread.
    public func run(
        since version: UInt64, changes: (_ since: UInt64) -> StorageBatch,
        part: ((_ first: Int) -> StoragePart)? = nil, onEvent: (StorageEvent) -> Void
    ) {
        guard var writer = writer.withLock({ $0.take() }) else {
            preconditionFailure("a storage file runs once")
        }
        writer.start(since: version)
        var delay = Duration.zero
        var isStopping = false
        repeat {
            isStopping = stopped.wait(delay)
            let startedAt = monotonicTime()
            // Before the changes are asked for: what is known by then is in the batch, and what comes while it is
            // written is not.
            let askedAt = now()
            let report = writer.pass(now: askedAt, changes: changes, part: part)
            record(report, askedAt: askedAt)
            for event in report.events { onEvent(event) }
            let interval = report.error == nil ? configuration.interval : .seconds(1)
            delay = startedAt + interval - monotonicTime()
        } while !isStopping
        writer.finish()
    }

    /// Has one last batch written; then ``run(since:changes:part:onEvent:)`` returns. Any thread.
    public func stop() {
        stopped.wake()
    }

    /// Any thread.
    public var statistics: StorageStatistics {
        state.withLock { $0 }
    }

    private func record(_ report: StorageWriter.Report, askedAt: Int64) {
        state.withLock { statistics in
            if report.error != nil { statistics.errorCount += 1 }
            if report.hasWritten { statistics.lastWriteAt = askedAt }
        }
    }
}

public struct StorageConfiguration: Sendable {
    public var path: String
    /// Points per city, at least 1. Older ones leave the file when it is trimmed, and are never restored.
    public var capacity: Int
    /// Name of the scale that categories and their counters refer to.
    public var scale: String
    public var limits: StorageLimits
    /// From the start of a batch to the start of the next, a second at most. A point is in the file this long after it
    /// was kept, plus the time that writing the batch takes.
    public var interval: Duration

    public init(
        path: String, capacity: Int, scale: String, limits: StorageLimits, interval: Duration = .milliseconds(500)
    ) {
        precondition(capacity >= 1, "a history has at least one point")
        precondition(interval > .zero && interval <= .seconds(1), "batches are at most a second apart")
        self.path = path
        self.capacity = capacity
        self.scale = scale
        self.limits = limits
        self.interval = interval
    }
}

/// What a start got from the file.
public struct RestoredStorage: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// There was no file, or an empty one.
        case created
        case restored
        /// It was damaged: it was renamed, and a new file was created.
        case quarantined(movedTo: String, reason: String)
        /// It cannot be written; ``StorageFile/run(since:changes:part:onEvent:)`` tries again each second. What could be read
        /// is restored nevertheless.
        case unavailable(reason: String)
    }

    public var outcome: Outcome
    public var file: StorageFile
    /// In the order in which they were first stored.
    public var cities: [StoredCity]
    /// The scale in force when they were written. Where it is another one now, category, direction, time of change and
    /// counters mean nothing. Nil when nothing was read.
    public var scale: String?
    /// Cities and points left out because their values make no sense.
    public var skippedRows: Int

    init(_ outcome: Outcome, _ file: StorageFile, _ content: StorageContent) {
        self.outcome = outcome
        self.file = file
        cities = content.cities
        scale = content.scale
        skippedRows = content.skippedRows
    }
}

/// A change of the file's state, each reported once. The texts are one line.
public enum StorageEvent: Sendable, Equatable {
    /// Nothing can be written; it is tried again each second, and everything is written when it succeeds.
    case failing(reason: String)
    /// Everything that was missed is written.
    case recovered
    /// The file turned out to be damaged: it was renamed, and a new file was created.
    case quarantined(movedTo: String, reason: String)
    /// The file was removed or replaced: the file that has its name now got everything from memory.
    case recreated
}

public struct StorageStatistics: Sendable, Equatable {
    /// Failed attempts to open, write or check the file.
    public var errorCount: UInt64 = 0
    /// When the last batch that is committed was begun, milliseconds since the Unix epoch: the file has all that was known
    /// then. nil before the first.
    public var lastWriteAt: Int64?
}
