internal import Synchronization

/// Keeps cities and their history in a SQLite file, on a thread of its own.
///
/// The file asks what changed, at most a second apart, and writes each answer as one transaction. What could not be
/// written is asked again, so a slow or failing disk delays the file and never the memory, and changes of a city that
/// come meanwhile become one.
///
/// - After `kill -9`, everything is there that was in memory one interval, and the writing of one batch, earlier. Once a
///   minute the file is synced, which delays the next batch for as long as the disk takes.
/// - After a loss of power the file is sound and at most a minute behind, on a disk that obeys `fsync`.
///
/// No other part of the process may open the file: closing it would give up its lock (POSIX, `fcntl`).
public final class StorageFile: Sendable {
    private let configuration: StorageConfiguration
    private let now: @Sendable () -> Int64
    private let state: Mutex<StorageStatistics>
    private let writer: Mutex<StorageWriter?>
    private let wake = Wake()

    /// Opens, checks and reads the file, and locks it against other processes until ``run(since:changes:onEvent:)`` has
    /// returned.
    ///
    /// A damaged file is set aside. A file that cannot be written now is tried again later.
    ///
    /// - Parameter now: the wall clock, milliseconds since the Unix epoch.
    /// - Throws: what must end the start.
    public static func open(
        _ configuration: StorageConfiguration, now: @escaping @Sendable () -> Int64
    ) throws(StorageError) -> StorageOpening {
        do throws(StorageRefusal) {
            let found = try FoundFile.open(configuration, now: now())
            let isFresh = found.database.isFresh
            let content = isFresh ? StorageContent() : found.content
            let setAside = found.setAside
            let replacesAll = !isFresh && (content.scale != configuration.scale || content.skippedRows > 0)
            let writer = StorageWriter(configuration, database: found.database, replacesAll: replacesAll)
            let file = StorageFile(configuration, now: now, writer: writer, error: setAside?.reason)
            return StorageOpening(
                outcome: setAside.map { .setAside(movedTo: $0.path, reason: $0.reason) }
                    ?? (isFresh ? .fresh : .restored),
                file: file, content: content)
        } catch {
            let code: StorageError.Code
            switch error {
            case .inUse: code = .inUse
            case .foreign: code = .foreign
            case .newer: code = .newerSchema
            case .notAFile: code = .notAFile
            case .damaged, .unavailable:
                let writer = StorageWriter(configuration, database: nil, replacesAll: false)
                return StorageOpening(
                    outcome: .unavailable(reason: error.description),
                    file: StorageFile(configuration, now: now, writer: writer, error: error.description),
                    content: StorageContent.ofReadOnlyFile(configuration))
            }
            throw StorageError(code, "storage file \"\(configuration.path)\": \(error)")
        }
    }

    private init(
        _ configuration: StorageConfiguration, now: @escaping @Sendable () -> Int64,
        writer: consuming sending StorageWriter,
        error: String?
    ) {
        self.configuration = configuration
        self.now = now
        self.writer = Mutex(writer)
        state = Mutex(StorageStatistics(errorCount: error == nil ? 0 : 1, lastError: error))
    }

    /// Writes until ``stop()``, and blocks the calling thread meanwhile. Once.
    ///
    /// - Parameters:
    ///   - version: of the memory right after it took in what was restored: what it has then need not be written. 0 when
    ///     the file is to be written anew. Not heeded for a file that is fresh, of another scale or has skipped rows; what
    ///     the memory has takes the place of all that such a file has.
    ///   - changes: everything since a version, 0 for everything there is. On the calling thread.
    ///   - onEvent: on the calling thread.
    public func run(
        since version: UInt64, changes: (_ since: UInt64) -> StorageBatch, onEvent: (StorageEvent) -> Void
    ) {
        guard var writer = writer.withLock({ $0.take() }) else {
            preconditionFailure("a storage file runs once")
        }
        writer.begin(since: version)
        var delay = Duration.zero
        var isStopping = false
        repeat {
            isStopping = wake.wait(for: delay)
            let begunAt = ContinuousClock.now
            let report = writer.pass(now: now(), changes: changes)
            record(report)
            for event in report.events { onEvent(event) }
            let interval = report.error == nil ? configuration.interval : .seconds(1)
            delay = interval - begunAt.duration(to: .now)
        } while !isStopping
        writer.finish()
    }

    /// Has one last batch written; then ``run(since:changes:onEvent:)`` returns. Any thread.
    public func stop() {
        wake.wake()
    }

    /// Any thread.
    public var statistics: StorageStatistics {
        state.withLock { $0 }
    }

    private func record(_ report: StorageWriter.Report) {
        let writtenAt = report.hasWritten ? now() : nil
        state.withLock { statistics in
            if let error = report.error {
                statistics.errorCount += 1
                statistics.lastError = error
            }
            if let writtenAt { statistics.lastWriteAt = writtenAt }
        }
    }
}

extension StorageOpening {
    fileprivate init(outcome: Outcome, file: StorageFile, content: StorageContent) {
        self.init(
            outcome: outcome, file: file, cities: content.cities, scale: content.scale,
            skippedRows: content.skippedRows)
    }
}
