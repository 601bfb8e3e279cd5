public import AirQuality
public import Exposition
internal import Synchronization
public import System

/// Keeps the cities of a store and their history in a SQLite file, on a thread of its own.
///
/// At least once a second, the file asks the store what changed and writes it as one transaction. Changes that could not
/// be written are found again, so a slow or failing disk delays the file but never the store, and several changes of a
/// city are merged into one.
///
/// - After `kill -9`, the file lags the store by at most one interval plus the time to write one batch. Once a minute
///   the file is synced, which delays the next batch for as long as the disk takes.
/// - After a loss of power the file is sound and at most a minute behind, on a disk that obeys `fsync`.
///
/// No other part of the process may open the file: closing it would give up its lock (POSIX, `fcntl`).
public final class StorageFile: Sendable {
    private let interval: Duration
    private let now: @Sendable () -> Int64
    private let state: Mutex<StorageStatistics>
    private let writer: Mutex<StorageWriter?>
    private let stopped: WakePipe

    /// Opens, checks and reads the file, restores the store from it, and locks it against other processes until
    /// ``run(onEvent:)`` has returned.
    ///
    /// A damaged file is moved aside. A file that cannot be written now is tried again later.
    ///
    /// - Parameters:
    ///   - store: without cities. No feed runs yet.
    ///   - interval: From the start of a batch to the start of the next, a second at most. A point is in the file this
    ///     long after it was kept, plus the time that writing the batch takes.
    ///   - now: the wall clock, milliseconds since the Unix epoch.
    /// - Throws: what must end the start.
    public static func open(
        _ path: String, store: ReadingStore, interval: Duration = .milliseconds(500),
        now: @escaping @Sendable () -> Int64
    ) throws(SystemError) -> RestoredStorage {
        precondition(interval > .zero && interval <= .seconds(1), "batches are at most a second apart")
        let stopped: WakePipe
        do throws(SystemError) {
            stopped = try WakePipe()
        } catch {
            throw StorageError.unavailable(error.reason).error(of: path)
        }
        var content = StorageContent()
        let outcome: StorageEvent
        var error: String?
        var writer: StorageWriter
        var otherShards = 0
        func restore() {
            store.restore(content.cities, isSameScale: content.scale == store.rules.scale.name, at: now())
        }
        do throws(StorageError) {
            let opened = try OpenedStorage.open(path, rules: store.rules, now: now())
            content = opened.content
            restore()
            if let (movedTo, reason) = opened.quarantined {
                outcome = .quarantined(movedTo: movedTo, reason: reason)
                error = reason
            } else {
                outcome = opened.database.isNew ? .created : .restored
            }
            writer = StorageWriter(path, store: store)
            otherShards = writer.take(opened, isStart: true)
        } catch let reason {
            switch reason {
            case .inUse, .foreign, .notADatabase, .newer, .unreleased, .notAFile: throw reason.error(of: path)
            case .damaged, .unavailable, .full:
                content = StorageContent.ofReadOnlyFile(path, capacity: store.rules.history.capacity)
                restore()
                outcome = .failing(reason: reason.description)
                error = reason.description
                writer = StorageWriter(path, store: store, isFailing: true)
            }
        }
        return RestoredStorage(
            outcome: outcome, file: StorageFile(interval, now, writer, stopped, error: error),
            cityCount: content.cities.count - otherShards, otherShardCount: otherShards,
            skippedRows: content.skippedRows)
    }

    private init(
        _ interval: Duration, _ now: @escaping @Sendable () -> Int64, _ writer: consuming sending StorageWriter,
        _ stopped: consuming WakePipe, error: String?
    ) {
        self.interval = interval
        self.now = now
        self.writer = Mutex(writer)
        self.stopped = stopped
        state = Mutex(StorageStatistics(errorCount: error == nil ? 0 : 1))
    }

    /// Writes until ``stop()``, and blocks the calling thread meanwhile. Once.
    ///
    /// - Parameter onEvent: on the calling thread.
    public func run(onEvent: (StorageEvent) -> Void) {
        guard var writer = writer.withLock({ $0.take() }) else {
            preconditionFailure("a storage file runs once")
        }
        var delay = Duration.zero
        var isStopping = false
        repeat {
            isStopping = stopped.wait(delay)
            let startedAt = monotonicTime()
            // Before the store is looked at: what is known by then is in the batch, and what comes while it is written
            // is not.
            let askedAt = now()
            let report = writer.pass(now: askedAt, isLast: isStopping)
            record(report, askedAt: askedAt)
            for event in report.events { onEvent(event) }
            delay = startedAt + (report.error == nil ? interval : .seconds(1)) - monotonicTime()
        } while !isStopping
        writer.finish()
    }

    /// Has one last batch written; then ``run(onEvent:)`` returns. Any thread.
    public func stop() { stopped.wake() }

    /// Any thread.
    public var statistics: StorageStatistics { state.withLock { $0 } }

    private func record(_ report: StorageWriter.Report, askedAt: Int64) {
        state.withLock { statistics in
            if report.error != nil { statistics.errorCount += 1 }
            if report.hasWritten { statistics.lastWriteAt = askedAt }
        }
    }
}

/// The result of opening a file.
public struct RestoredStorage: Sendable {
    /// Created, restored, quarantined or failing. What could be read of a failing file is restored nevertheless, and
    /// ``StorageFile/run(onEvent:)`` tries again each second.
    public var outcome: StorageEvent
    public var file: StorageFile
    /// Cities read.
    public var cityCount: Int
    /// Cities that leave the file because they are of other shards.
    public var otherShardCount: Int
    /// Cities and readings left out because their values make no sense.
    public var skippedRows: Int
}

/// A state of the file, reported when it begins. The texts are one line.
public enum StorageEvent: Sendable, Equatable {
    /// There was no file, or an empty one.
    case created
    case restored
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

    public static let families: [Family<StorageStatistics>] = [
        Family("airquality_exporter_storage_errors_total", .counter, "Failed attempts to write the storage file.") {
            Double($0.errorCount)
        },
        Family(
            "airquality_exporter_storage_last_write_timestamp_seconds", .gauge,
            "When the storage file was last written, in seconds since the Unix epoch."
        ) { $0.lastWriteAt.map { Double($0) / 1000 } },
    ]
}
