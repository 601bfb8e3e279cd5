import System

/// Room for a few at a time; others wait for their turn.
final class Turns: Sendable {
    private let limit: Int
    private let taken = Monitor(0)

    init(limit: Int) { self.limit = limit }

    /// Runs the body when there is room.
    ///
    /// - Parameter patience: how long to wait for it.
    /// - Returns: `nil` when there was none in that time.
    func run<Result>(within patience: Duration, _ body: () -> Result) -> Result? {
        let hasTurn: Bool? = taken.wait(until: monotonicTime() + patience) { taken in
            guard taken < limit else { return nil }
            taken += 1
            return true
        }
        guard hasTurn == true else { return nil }
        defer { taken.change { $0 -= 1 } }
        return body()
    }
}
