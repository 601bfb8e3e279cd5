import AirSources
import Bytes

/// Omissions of the source, summarised once a day in one log line. Times are epoch milliseconds.
struct OmissionLog {
    private static let interval: Int64 = 86_400_000
    private static let maximumNames = 10_000
    private static let shownNames = 5

    private var omissions: Set<Omission> = []
    private var loggedAt: Int64?

    mutating func add(_ more: Set<Omission>) {
        for omission in more where omissions.count < Self.maximumNames { omissions.insert(omission) }
    }

    /// Whether something logged at `loggedAt` was logged within the last day.
    static func isRecent(_ loggedAt: Int64?, at now: Int64) -> Bool {
        loggedAt.map { ($0...($0 + interval)).contains(now) } ?? false
    }

    /// Returns the line that is due and starts anew; `nil` without omissions or within a day of the last line.
    mutating func takeLine(at now: Int64) -> String? {
        guard !omissions.isEmpty, !Self.isRecent(loggedAt, at: now) else { return nil }
        let reasons = Dictionary(grouping: omissions, by: \.reason).sorted { $0.key < $1.key }
        let parts = reasons.map { reason, omissions in
            let names = omissions.map { onOneLine($0.name) }.sorted()
            let rest = names.count - Self.shownNames
            let shown = names.prefix(Self.shownNames).joined(separator: "; ")
            return "\(names.count) \(reason) (\(shown)" + (rest > 0 ? "; \(rest) more)" : ")")
        }
        omissions = []
        loggedAt = now
        return "skipped or adjusted: " + parts.joined(separator: ", ")
    }
}
