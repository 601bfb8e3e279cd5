public import FeedProtocol

/// A change of a feed's connection.
public enum FeedEvent: Sendable, Equatable {
    case connecting
    /// The handshake is finished; with the feed's source, if it names one.
    case connected(FeedSource?)
    /// A connection ended or a dial failed; the text is for people.
    case disconnected(DisconnectReason, detail: String)
    /// A message, or one of its elements, was rejected; why, for people. `nil`: it is without readings.
    case explained(RejectionReason?, [ExplanationField])
    case paused
    case resumed
}
