/// When the cities are complete after a start: no new one has come for a while, or all that were restored have been heard
/// of again.
struct WarmUp: Sendable {
    /// Milliseconds; 0: the cities count as complete from the start.
    let duration: Int64
    /// The store's version right after the restore; nil if nothing was restored.
    var restoredVersion: UInt64?
    /// When the last new city came; if none has come yet, when the first message came; before that, the start.
    private(set) var grownAt: Timestamp
    private var hasMessage = false
    private(set) var isOver: Bool

    init(duration: Int64, startedAt: Timestamp) {
        self.duration = duration
        grownAt = startedAt
        isOver = duration == 0
    }

    mutating func receive(at time: Timestamp, hasNewCities: Bool) {
        guard !isOver, hasNewCities || !hasMessage else { return }
        // Once they have stopped growing, a city that comes later changes nothing.
        if hasMessage, isOver(at: time) {
            isOver = true
        } else {
            grownAt = time
        }
        hasMessage = true
    }

    func isOver(at now: Timestamp) -> Bool { isOver || now - grownAt >= duration }

    mutating func end() { isOver = true }
}

/// What cities are missing after a start, as far as that is known.
public struct WarmUpProgress: Sendable, Equatable {
    public var cityCount: Int
    /// Milliseconds since the last new one.
    public var age: Int64
    /// Restored ones that were not heard of again; nil when nothing was restored.
    public var unheardCount: Int?
}

extension ReadingStore {
    /// nil when the cities are complete. Looks at each city, until then and where some were restored.
    public func warmUp(at now: Timestamp) -> WarmUpProgress? {
        let (warmUp, snapshot) = withLock { ($0.warmUp, $0.snapshot) }
        guard !warmUp.isOver else { return nil }
        let unheard = warmUp.restoredVersion.map { version in
            (0..<snapshot.states.count).count {
                snapshot.states[$0].isPresent && snapshot.states.version(of: $0) <= version
            }
        }
        guard !warmUp.isOver(at: now), unheard != 0 else {
            withLock { $0.warmUp.end() }
            return nil
        }
        return WarmUpProgress(
            cityCount: snapshot.cityCount, age: max(0, now - warmUp.grownAt), unheardCount: unheard)
    }
}
