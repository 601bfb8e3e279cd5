import AirQuality

/// When to log what a feed sends that gives no readings: each reason at once and then hourly, its end once, and a few
/// of the server's own words. Times are monotonic.
struct RejectionLog: Sendable {
    static let reminder = Duration.seconds(3600)
    /// A reason that has not occurred for this long has stopped.
    static let quietTime = Duration.seconds(900)
    /// Different texts of a server logged in an hour.
    static let maximumWords = 4
    /// Messages of a connection after which a feed that is mostly unread is named.
    private static let sampleCount = 20

    private struct Occurrence {
        let since: Duration
        var last: Duration
        var count: UInt64
    }

    private var current: [RejectionReason: Occurrence] = [:]
    private var loggedAt: [NoReading: Duration] = [:]
    private var words = HourlyLog<String>(maximumSubjects: maximumWords)
    private var isMostlyUnreadLogged = false

    /// Notes messages or elements without a reading, and returns whether to log them.
    mutating func note(_ noReading: NoReading, count: UInt64 = 1, at now: Duration) -> Bool {
        if case .rejected(let reason) = noReading {
            current[reason, default: Occurrence(since: now, last: now, count: 0)].last = now
            current[reason]?.count += count
        }
        guard isDue(noReading, at: now) else { return false }
        loggedAt[noReading] = now
        return true
    }

    func isDue(_ noReading: NoReading, at now: Duration) -> Bool {
        loggedAt[noReading].map { now - $0 >= Self.reminder } ?? true
    }

    /// Returns the reasons that have stopped since the last call: for how long, and how often, each occurred.
    mutating func takeStopped(at now: Duration) -> [(reason: RejectionReason, lasted: Duration, count: UInt64)] {
        func hasStopped(_ occurrence: Occurrence) -> Bool { now - occurrence.last >= Self.quietTime }
        // For nearly every message that is rejected, nothing has.
        guard current.values.contains(where: hasStopped) else { return [] }
        let stopped = RejectionReason.allCases.filter { current[$0].map(hasStopped) ?? false }
        return stopped.compactMap { reason in
            loggedAt[.rejected(reason)] = nil
            return current.removeValue(forKey: reason).map { (reason, $0.last - $0.since, $0.count) }
        }
    }

    /// Returns whether to log a server's words.
    mutating func note(words text: String, at now: Duration) -> Bool { words.note(text, at: now) }

    /// Returns whether to log, once, that most messages of a connection that also has readings give none.
    mutating func noteMostlyUnread(_ connection: FeedStatistics.Connection) -> Bool {
        guard !isMostlyUnreadLogged, connection.messagesWithReadings > 0, connection.messages >= Self.sampleCount,
            connection.messagesWithReadings * 2 < connection.messages
        else { return false }
        isMostlyUnreadLogged = true
        return true
    }
}
