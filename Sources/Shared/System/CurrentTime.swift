package import Glibc

/// Wall-clock time in milliseconds since the Unix epoch; jumps when the clock is set.
public func currentTime() -> Int64 {
    let now = read(CLOCK_REALTIME)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}

/// Time since boot without suspension, for measurements and time-outs; never jumps. Corresponds to `CLOCK_MONOTONIC`.
public func monotonicTime() -> Duration {
    let now = read(CLOCK_MONOTONIC)
    return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
}

private func read(_ clock: clockid_t) -> timespec {
    var now = timespec()
    unsafe clock_gettime(clock, &now)
    return now
}

extension Duration {
    /// The duration as C functions take it; zero if negative.
    package var timespec: timespec {
        let duration = max(self, .zero).components
        return .init(tv_sec: Int(duration.seconds), tv_nsec: Int(duration.attoseconds / 1_000_000_000))
    }

    /// Whole milliseconds, rounded up so that a wait never ends early; at most 23 days.
    package var pollMilliseconds: Int32 {
        let duration = min(max(self, .zero), .seconds(2_000_000)).components
        return Int32(duration.seconds * 1000 + (duration.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// Suspends the calling thread. Corresponds to `nanosleep`; a signal may end it early.
public func pauseThread(for time: Duration) {
    var time = time.timespec
    _ = unsafe nanosleep(&time, nil)
}
