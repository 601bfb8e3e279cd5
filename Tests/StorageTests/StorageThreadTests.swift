import AirQuality
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("the file on its own thread") struct StorageThreadTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    /// - Parameter onEvent: on the file's thread.
    private func run(
        _ file: StorageFile, onEvent: @escaping @Sendable (StorageEvent) -> Void = { _ in }
    ) -> AsyncStream<StorageEvent> {
        let (events, continuation) = AsyncStream<StorageEvent>.makeStream()
        Thread.detachNewThread {
            file.run { event in
                onEvent(event)
                continuation.yield(event)
            }
            continuation.finish()
        }
        return events
    }

    @Test("changes from other threads are all there after stop, and its figures can be read meanwhile")
    func concurrent() async throws {
        let store = makeStore()
        let file = try open(path, store).file
        let events = run(file)
        for second in 0..<300 {
            store.receive(["city \(second)", "Pune"], 7, at: second)
            #expect(file.statistics.errorCount == 0)
        }
        eventually("a write") { file.statistics.lastWriteAt == openingTime }
        store.receive("the last", 7, at: 300)
        file.stop()
        file.stop()
        for await event in events { Issue.record("\(event)") }
        #expect(try restored(path).cities == store.cities)
    }

    @Test("it tries again by itself until the disk is back") func retries() async throws {
        let (here, away) = (directory.file("sub"), directory.file("away"))
        unsafe mkdir(here, 0o755)
        let (path, store) = (directory.file("sub/storage.db"), makeStore())
        let file = try open(path, store).file
        // Back before it tries again, however late this thread is.
        let events = run(file) { event in
            if event == .recovered { file.stop() } else { unsafe rename(away, here) }
        }
        store.receive("Pune", 1, at: 0)
        eventually("the first write") { file.statistics.lastWriteAt != nil }
        unsafe rename(here, away)
        store.receive("Pune", 2, at: 1)
        var told: [StorageEvent] = []
        for await event in events { told.append(event) }
        #expect(told == [.failing(reason: "unable to open database file: No such file or directory"), .recovered])
        #expect(file.statistics.errorCount == 1)
        #expect(try restored(path).cities == store.cities)
    }

    @Test("a file that nobody runs gives up its lock") func neverRun() throws {
        _ = try open(path, makeStore())
        #expect(try open(path, makeStore()).outcome == .restored)
    }
}
