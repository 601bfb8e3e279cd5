import JQ

/// Decides which problems of `--feed.reply` to log: each once an hour, and at most ten different ones.
struct ReplyLog {
    private static let maximumProblems = 10
    private static let period = Duration.seconds(3600)

    private var loggedAt: [FeedReplies.Problem: Duration] = [:]

    /// - Parameter now: monotonic time.
    mutating func note(_ problem: FeedReplies.Problem, at now: Duration) -> Bool {
        loggedAt = loggedAt.filter { now - $0.value < Self.period }
        guard loggedAt[problem] == nil, loggedAt.count < Self.maximumProblems else { return false }
        loggedAt[problem] = now
        return true
    }
}
