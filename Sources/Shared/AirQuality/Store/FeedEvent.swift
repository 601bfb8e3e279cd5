public import FeedProtocol

/// A change of a feed's connection.
public enum FeedEvent: Sendable, Equatable {
    case connecting
    /// The handshake is finished; with the feed's source, if it names one.
    case connected(FeedSource?)
    /// A connection ended or a dial failed; the text is for people.
    case disconnected(DisconnectReason, detail: String)
    case paused
    case resumed
}
