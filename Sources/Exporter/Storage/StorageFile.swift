public import AirQuality
internal import Synchronization
public import System

/// Keeps the cities of a store and their history in a SQLite file, on a thread of its own.
///
/// Twice a second, it writes new points and cities whose category changed, in one transaction. Points that left the
/// memory are deleted in between, in parts.
///
/// - After `kill -9`, the file has every point kept at least two seconds before. The newest stored point becomes the
///   current reading of a city, unless that of the last clean stop is newer; counters of category changes restart at 0.
/// - After a clean stop, the file has everything, and perhaps old points that the next start deletes.
/// - After a power loss, the file is intact and at most ten minutes behind, if the disk honours `fsync`.
///
/// No other code in the process may open the file: closing it would release the lock (POSIX, `fcntl`).
///
/// ```swift
/// let file = try StorageFile("readings.sqlite", store: store, now: currentTime)
/// let thread = try ServiceThread(name: "storage") { file.run { print($0) } }
/// file.stop()  // Later, for a clean stop.
/// ```
public final class StorageFile: Sendable {
    static let writeInterval = Duration.milliseconds(500)

    /// Created, restored, quarantined or failing. Whatever could be read from a failing file is restored as well.
    public let outcome: StorageEvent
    private let now: @Sendable () -> Int64
    private let state: Mutex<StorageStatistics>
    private let writer: Mutex<StorageWriter?>
    private let isStopped = Monitor(false)

    /// Opens, locks, checks and reads the file, and restores the store. ``run(onEvent:)`` releases the lock at its end.
    ///
    /// - Parameters:
    ///   - store: without cities; no feed may be running yet.
    ///   - now: the wall clock, in milliseconds since the Unix epoch.
    /// - Throws: if the start must fail: the file is another program's or a later version's, in use, or not regular.
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

    /// Throws what would make a start fail or run without storage. Changes neither the file nor its folder.
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

    /// Writes until ``stop()``. Blocks the calling thread, on which `onEvent` is called. May be called once.
    public func run(onEvent: (StorageEvent) -> Void) {
        guard var writer = writer.withLock({ $0.take() }) else { preconditionFailure("a storage file runs once") }
        var next = monotonicTime()
        var isStopping = false
        repeat {
            isStopping = isStopped.wait(until: next) { $0 ? true : nil } ?? false
            let startedAt = monotonicTime()
            // The time is read before the store: readings that arrive during the write may not be in the batch.
            let events = writer.pass(now: now(), isLast: isStopping)
            state.withLock { $0 = writer.statistics }
            for event in events { onEvent(event) }
            next = startedAt + (writer.isFailing ? .seconds(1) : Self.writeInterval)
        } while !isStopping
        writer.finish()
    }

    /// Requests a last batch, after which ``run(onEvent:)`` returns. Callable from any thread.
    public func stop() { isStopped.change { $0 = true } }

    /// Statistics as of the last pass. Callable from any thread.
    public var statistics: StorageStatistics { state.withLock { $0 } }
}
