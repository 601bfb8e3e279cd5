package import Glibc

/// The wall clock: milliseconds since the Unix epoch. It jumps when the clock is set.
public func currentTime() -> Int64 {
    let now = read(CLOCK_REALTIME)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}

/// Time since the machine started, for measuring and for time-outs: it never jumps (`CLOCK_MONOTONIC`).
public func monotonicTime() -> Duration {
    let now = read(CLOCK_MONOTONIC)
    return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
}

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

private func read(_ clock: clockid_t) -> timespec {
    var now = timespec()
    let result = unsafe clock_gettime(clock, &now)
    precondition(result == 0, "clock_gettime knows these clocks")
    return now
}

extension Duration {
    /// As the C library takes intervals; a negative duration is zero.
    package var timespec: timespec {
        let duration = max(self, .zero).components
        return .init(tv_sec: Int(duration.seconds), tv_nsec: Int(duration.attoseconds / 1_000_000_000))
    }

    /// Whole milliseconds, rounded up so that a wait never ends early; at most `Int32.max`.
    package var pollMilliseconds: Int32 {
        let duration = max(self, .zero).components
        guard duration.seconds < 2_000_000 else { return 2_000_000_000 }
        return Int32(duration.seconds * 1000 + (duration.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// Lets the calling thread sleep. Corresponds to `nanosleep`; a signal may end it early.
public func pauseThread(for time: Duration) {
    var time = time.timespec
    _ = unsafe nanosleep(&time, nil)
}
