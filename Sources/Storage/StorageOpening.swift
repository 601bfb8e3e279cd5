/// What was found at the start.
public struct StorageOpening: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// There was no file, or an empty one.
        case fresh
        case restored
        /// It was damaged; it has another name now, and a new one has been begun.
        case setAside(movedTo: String, reason: String)
        /// It cannot be written; ``StorageFile/run(since:changes:onEvent:)`` tries again each second. What could be read
        /// is restored nevertheless.
        case unavailable(reason: String)
    }

    public var outcome: Outcome
    public var file: StorageFile
    /// In the order in which they were first stored.
    public var cities: [StoredCity]
    /// The scale in force when they were written. Where it is another one now, category, direction, time of change and
    /// counters mean nothing. nil when nothing was read.
    public var scale: String?
    /// Cities and points left out because their values make no sense.
    public var skippedRows: Int
}
