/// A change of the wall clock between two checks.
public struct ClockStep: Sendable, Equatable {
    /// Milliseconds; negative if the clock was set back.
    public let size: Int64
    /// Time between the checks in milliseconds.
    public let elapsed: Int64
}

/// Detects when the wall clock is set, by comparing it with the monotonic clock. Time that the machine was suspended
/// counts as a step, because the monotonic clock stood still.
public struct ClockWatch: Sendable {
    /// Milliseconds. Gradual corrections change both clocks alike.
    private static let smallestStep: Int64 = 1000

    private var wall: Int64
    private var monotonic: Duration

    public init(wall: Int64, monotonic: Duration) {
        self.wall = wall
        self.monotonic = monotonic
    }

    /// - Returns: `nil` if the clock was not set since the last check.
    public mutating func step(wall: Int64, monotonic: Duration) -> ClockStep? {
        let elapsed = Int64((monotonic - self.monotonic) / .milliseconds(1))
        let size = wall - self.wall - elapsed
        self.wall = wall
        self.monotonic = monotonic
        return abs(size) >= Self.smallestStep ? ClockStep(size: size, elapsed: elapsed) : nil
    }
}
