public import AirQuality
internal import Synchronization
public import System

/// Keeps the cities of a store and their history in a SQLite file, on a thread of its own.
///
/// Twice a second, it writes what has changed as one transaction: points, and cities whose category changed.
///
/// - After `kill -9`, every point that was kept two seconds earlier is there, and the current reading of a city is the
///   newest stored one; counters of category changes begin at 0.
/// - After a proper end, everything is there.
/// - After a loss of power the file is sound and at most ten minutes behind, on a disk that obeys `fsync`.
///
/// No other part of the process may open the file: closing it would give up its lock (POSIX, `fcntl`).
///
/// ```swift
/// let file = try StorageFile("readings.sqlite", store: store, now: currentTime)
/// let thread = try ServiceThread(name: "storage") { file.run { print($0) } }
/// file.stop()  // Later, for a proper end.
/// ```
public final class StorageFile: Sendable {
    /// Created, restored, quarantined or failing; what could be read of a failing file is restored nevertheless.
    public let outcome: StorageEvent
    private let now: @Sendable () -> Int64
    private let state: Mutex<StorageStatistics>
    private let writer: Mutex<StorageWriter?>
    private let isStopped = Monitor(false)

    /// Opens, checks and reads the file, restores the store from it, and locks it against other processes until
    /// ``run(onEvent:)`` has returned.
    ///
    /// - Parameters:
    ///   - store: without cities. No feed runs yet.
    ///   - now: the wall clock, milliseconds since the Unix epoch.
    /// - Throws: what must end the start: a file of another program, of a later version, in use, or not regular.
    public init(_ path: String, store: ReadingStore, now: @escaping @Sendable () -> Int64) throws(SystemError) {
        self.now = now
        var writer = StorageWriter(path, store: store)
        do throws(StorageError) {
            outcome = try writer.open(now: now())
        } catch {
            if case .rejected = error { throw error.error(of: path) }
            writer.statistics.errorCount += 1
            outcome = .failing(reason: error.reason)
        }
        state = Mutex(writer.statistics)
        self.writer = Mutex(writer)
    }

    /// Looks at the file and its folder, changes neither, and throws what a start would end with or go without.
    public static func check(_ path: String) throws(SystemError) {
        do throws(StorageError) {
            _ = try StorageSchema.checkHeader(of: path)
            let file = resolvedPath(path)
            let folder = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(file[...$0]) } ?? "."
            guard isWritable(folder) else { throw .withoutFolder }
            guard FileIdentity(file) == nil || isWritable(file) else { throw .readOnly }
        } catch {
            throw error.error(of: path)
        }
    }

    /// Writes until ``stop()``, and blocks the calling thread meanwhile, which hears of events as well. Once.
    public func run(onEvent: (StorageEvent) -> Void) {
        guard var writer = writer.withLock({ $0.take() }) else { preconditionFailure("a storage file runs once") }
        var next = monotonicTime()
        var isStopping = false
        repeat {
            isStopping = isStopped.wait(until: next) { $0 ? true : nil } ?? false
            let startedAt = monotonicTime()
            // The time is asked before the store is: what comes while the batch is written may not be in it.
            let events = writer.pass(now: now(), isLast: isStopping)
            state.withLock { $0 = writer.statistics }
            for event in events { onEvent(event) }
            next = startedAt + (writer.isFailing ? .seconds(1) : .milliseconds(500))
        } while !isStopping
        writer.finish()
    }

    /// Has one last batch written; then ``run(onEvent:)`` returns. Any thread.
    public func stop() { isStopped.change { $0 = true } }

    /// Any thread.
    public var statistics: StorageStatistics { state.withLock { $0 } }
}
