public import AirQuality

/// The reason why the page has no fresh data.
public struct Outage: Sendable, Equatable {
    /// When the last reading came; `nil` before the first one.
    public var since: Timestamp?
    /// A fault of the configuration and the flag to set, in one line that names no address; `nil` when nothing
    /// is known.
    public var hint: String?

    public init(since: Timestamp?, hint: String? = nil) {
        self.since = since
        self.hint = hint
    }
}
