/// Decides which of many subjects to log: each once an hour, and at most so many different ones.
struct HourlyLog<Subject: Hashable & Sendable>: Sendable {
    private let maximumSubjects: Int
    private var loggedAt: [Subject: Duration] = [:]

    init(maximumSubjects: Int) { self.maximumSubjects = maximumSubjects }

    /// - Parameter now: monotonic time.
    mutating func note(_ subject: Subject, at now: Duration) -> Bool {
        loggedAt = loggedAt.filter { now - $0.value < .seconds(3600) }
        guard loggedAt[subject] == nil, loggedAt.count < maximumSubjects else { return false }
        loggedAt[subject] = now
        return true
    }
}
