import AirQuality
import System

extension StoreSnapshot {
    /// Returns `nil` if a feed is connected or paused and a city has a fresh reading, else the problem in one line.
    func readinessProblem(at now: Timestamp) -> String? {
        if feeds.contains(where: { isReady($0, at: now) }) { return nil }
        let reasons = feeds.map { "\($0.label): \($0.state(at: now))" }
        return "no fresh reading: " + (reasons.isEmpty ? "no feed" : reasons.joined(separator: "; "))
    }
}

extension FeedStatistics {
    /// The reason why no readings come, in one line.
    fileprivate func state(at now: Timestamp) -> String {
        guard isConnected else { return "not connected" + (lastProblem.map { " (\($0))" } ?? "") }
        if let reason = connection.reasonOfAll { return "readings rejected: \(explanation(of: reason))" }
        guard let lastMessageAt else { return "connected, no message yet" }
        if connection.readings == 0, connection.messagesWithoutReadings > 0 {
            return "messages without readings: \(explanation(of: nil))"
        }
        let silence = now - lastMessageAt
        let isSilent = idleTimeout > 0 && silence > idleTimeout
        return isSilent ? "no message for \(silence / 1000) s" : "messages without a new reading"
    }

    /// Leaves the hint unescaped, so that it can be pasted into a shell.
    private func explanation(of reason: RejectionReason?) -> String {
        let fields = explanations[reason] ?? []
        let hint = fields.first { $0.name == "hint" }.map { "; try: \($0.text)" }
        return details(of: reason, fields).text + (hint ?? "")
    }
}
