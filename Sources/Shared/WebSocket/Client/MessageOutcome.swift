/// The consequences of a message for its connection.
public struct MessageOutcome: Sendable, Equatable {
    /// Text messages to send in response, in UTF-8.
    public var replies: [[UInt8]]
    /// Whether the message is what the connection is for: ten seconds of such a connection end the back-off.
    public var isUseful: Bool

    public init(replies: [[UInt8]] = [], isUseful: Bool = false) {
        self.replies = replies
        self.isUseful = isUseful
    }
}
