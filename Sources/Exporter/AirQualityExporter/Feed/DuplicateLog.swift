import AirQuality

/// When to log which cities came twice: at once, and then at most once a minute. Times are monotonic.
struct DuplicateLog: Sendable {
    private static let interval = Duration.seconds(60)
    private static let maximumNames = 10

    private var names: [String] = []
    private var count = 0
    private var loggedAt: Duration?

    /// Returns the first ten cities to log, and the number of them all; `nil` if there is nothing to log now.
    mutating func note(_ message: borrowing FeedMessage, at now: Duration) -> (names: [String], count: Int)? {
        count += message.duplicateCityCount
        names += message.duplicateNames.prefix(Self.maximumNames - names.count)
        guard count > 0, loggedAt.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        loggedAt = now
        defer { (names, count) = ([], 0) }
        return (names, count)
    }
}
