/// A change of the wall clock between two looks.
public struct ClockStep: Sendable, Equatable {
    /// Milliseconds; negative when the clock was set back.
    public let size: Int64
    /// From one look to the next, in milliseconds.
    public let elapsed: Int64
}

/// Compares the wall clock with the one that never jumps, and so notices when it is set. The time that a machine was
/// suspended counts as a step: the other clock stood still.
public struct ClockWatch: Sendable {
    /// Milliseconds. A clock that is corrected without a jump gains or loses half a millisecond a second.
    private static let smallestStep: Int64 = 1000

    private var wall: Int64
    private var monotonic: Duration

    public init(wall: Int64, monotonic: Duration) {
        self.wall = wall
        self.monotonic = monotonic
    }

    /// - Returns: `nil` when the clock was not set since the last look.
    public mutating func step(wall: Int64, monotonic: Duration) -> ClockStep? {
        let elapsed = Int64((monotonic - self.monotonic) / .milliseconds(1))
        let size = wall - self.wall - elapsed
        self.wall = wall
        self.monotonic = monotonic
        return abs(size) >= Self.smallestStep ? ClockStep(size: size, elapsed: elapsed) : nil
    }
}
