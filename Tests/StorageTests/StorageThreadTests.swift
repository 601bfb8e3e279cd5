import AirQuality
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite struct `The file on its own thread` {
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

    @Test func `A file has all changes from other threads after stop, and its figures can be read meanwhile`()
        async throws
    {
        let store = makeStore()
        let file = try open(path, store)
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

    @Test func `A file is tried again until the disk is back`() async throws {
        let here = directory.file("sub")
        let away = directory.file("away")
        unsafe mkdir(here, 0o755)
        let path = directory.file("sub/storage.db")
        let store = makeStore()
        let file = try open(path, store)
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

    @Test func `A file gives up its lock if nobody runs it`() throws {
        _ = try open(path, makeStore())
        #expect(try open(path, makeStore()).outcome == .restored(cities: 0, leftOut: 0))
    }
}
