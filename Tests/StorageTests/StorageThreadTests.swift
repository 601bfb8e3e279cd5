import AirQuality
import Synchronization
import System
import TestSupport
import Testing

@testable import Storage

@Suite struct `The storage file on its own thread` {
    let directory = TemporaryDirectory()
    var path: String { directory.file("storage.db") }

    @Test func `After stop a file has all changes of other threads, and its statistics stay readable`() throws {
        let store = makeStore()
        let file = try open(path, store)
        let events = Mutex<[StorageEvent]>([])
        let thread = try ServiceThread(name: "file") { file.run { event in events.withLock { $0.append(event) } } }
        for second in 0..<300 {
            store.receive(["city \(second)", "Pune"], 7, at: second)
            #expect(file.statistics.errorCount == 0)
        }
        eventually("a write") { file.statistics.lastWriteAt == openingTime }
        store.receive("the last", 7, at: 300)
        file.stop()
        file.stop()
        thread.join()
        #expect(events.withLock { $0 } == [])
        #expect(try restored(path).cities == store.cities)
    }

    @Test func `A file that is never run releases its lock`() throws {
        _ = try open(path, makeStore())
        #expect(try open(path, makeStore()).outcome == .restored(cities: 0, leftOut: 0))
    }
}
