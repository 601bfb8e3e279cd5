import AirQuality
import Bytes
import CommandLine
import HTTPServer
import System

/// The responses of the health paths.
struct Health: Sendable {
    var store: ReadingStore

    /// `nil` when the store can be locked within a second, else what is wrong, in one line. Blocks so long.
    func livenessProblem(limit: Duration = .seconds(1)) -> String? {
        let deadline = monotonicTime() + limit
        while !store.isUnlocked {
            guard monotonicTime() < deadline else { return "the store has been locked for more than a second" }
            pauseThread(for: .milliseconds(10))
        }
        return nil
    }
}
