/// A change of a feed's connection.
public enum FeedEvent: Sendable, Equatable {
    case connecting
    /// The handshake has completed; with the feed's source if it announces one, and the expiry of its certificate.
    case connected(FeedSource?, certificateExpiry: Timestamp? = nil)
    /// A connection ended or an attempt failed, for one of ``StoreRules/disconnectReasons``; the detail is
    /// human-readable, without what the server says.
    case disconnected(String, detail: String)
    case paused
    case resumed
}
