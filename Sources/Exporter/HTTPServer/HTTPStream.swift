/// Events without an end, as the content of a response: made while it is sent, on its connection's thread.
///
/// The next ones are asked for when the client has taken those before, so a slow client costs nothing but its
/// connection; one that takes nothing for `HTTPLimits.streamTimeout` is disconnected.
public struct HTTPStream: Sendable {
    let next: @Sendable () -> [UInt8]?
    let cancel: @Sendable () -> Void
    let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - next: blocks until there is an event, and gives its bytes, at least one; `nil` ends the response.
    ///   - cancel: has `next` return `nil` soon, also one that blocks; any thread.
    ///   - onEnd: called once, when nothing more will be asked for.
    public init(
        next: @escaping @Sendable () -> [UInt8]?, cancel: @escaping @Sendable () -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.next = next
        self.cancel = cancel
        self.onEnd = onEnd
    }
}
