import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Storage

/// Versions that other threads raise and the file's thread asks for.
private final class SharedMemory: Sendable {
    let version = Atomic<UInt64>(1)
    let asked: AsyncStream<UInt64>
    private let continuation: AsyncStream<UInt64>.Continuation

    init() {
        (asked, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func changes(_ since: UInt64) -> StorageBatch {
        continuation.yield(since)
        let version = version.load(ordering: .acquiring)
        let new = since < version ? since + 1...version : nil
        return StorageBatch(version: version, cities: new?.map { makeCity("city \($0)") } ?? [])
    }
}

@Suite("the file on its own thread")
struct StorageThreadTests {
    let directory = TemporaryDirectory()
    var configuration: StorageConfiguration { makeConfiguration(directory.file("storage.db")) }

    /// - Parameter onEvent: on the file's thread.
    private func run(
        _ file: StorageFile, _ memory: SharedMemory, onEvent: @escaping @Sendable (StorageEvent) -> Void = { _ in }
    ) -> AsyncStream<StorageEvent> {
        let (events, continuation) = AsyncStream<StorageEvent>.makeStream()
        Thread.detachNewThread {
            file.run(
                since: 0, changes: memory.changes,
                onEvent: { event in
                    onEvent(event)
                    continuation.yield(event)
                })
            continuation.finish()
        }
        return events
    }

    @Test("changes from other threads are all there after stop, and its figures can be read meanwhile")
    func concurrent() async throws {
        let memory = SharedMemory()
        let file = try open(configuration).file
        let events = run(file, memory)
        for await since in memory.asked {
            #expect(file.statistics.errorCount == 0)
            if since == 300 { break }
            if memory.version.load(ordering: .relaxed) < 300 { memory.version.add(1, ordering: .releasing) }
        }
        memory.version.add(50, ordering: .releasing)
        file.stop()
        for await event in events { Issue.record("\(event)") }
        #expect(file.statistics.lastWriteAt == testTime)
        #expect(try restoredCities(configuration).count == 350)
    }

    @Test("stop ends a wait that is not over")
    func stopsAtOnce() async throws {
        var slow = configuration
        slow.interval = .seconds(1)
        let memory = SharedMemory()
        let file = try open(slow).file
        let events = run(file, memory)
        for await _ in memory.asked { break }
        file.stop()
        file.stop()
        for await event in events { Issue.record("\(event)") }
        #expect(try restoredCities(configuration) == [makeCity("city 1")])
    }

    @Test("it tries again by itself until the disk is back")
    func retries() async throws {
        unsafe mkdir(directory.file("sub"), 0o755)
        let configuration = makeConfiguration(directory.file("sub/storage.db"))
        let memory = SharedMemory()
        let file = try open(configuration).file
        let (here, away) = (directory.file("sub"), directory.file("away"))
        // Back before it tries again, however late this thread is.
        let events = run(file, memory) { event in
            if event == .recovered { file.stop() } else { unsafe rename(away, here) }
        }
        for await since in memory.asked where since == 1 { break }
        unsafe rename(here, away)
        memory.version.add(1, ordering: .releasing)
        var told: [StorageEvent] = []
        for await event in events { told.append(event) }
        #expect(
            told == [.failing(reason: "unable to open database file: No such file or directory"), .recovered])
        #expect(file.statistics.errorCount == 1)
        #expect(try restoredCities(configuration).count == 2)
    }

    @Test("a file that nobody runs gives up its lock")
    func neverRun() throws {
        _ = try open(configuration)
        #expect(try open(configuration).outcome == .restored)
    }
}
