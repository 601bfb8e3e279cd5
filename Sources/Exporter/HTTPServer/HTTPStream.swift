/// Events without an end, as the content of a response: made while it is sent, on its connection's thread.
///
/// The next one is asked for when the client has taken the one before, so a slow client costs nothing but its
/// connection; one that takes nothing for 15 s is disconnected.
public struct HTTPStream: Sendable {
    let greeting: [UInt8]
    let next: @Sendable () -> [UInt8]
    let end: @Sendable () -> Void

    /// - Parameters:
    ///   - greeting: is sent at once.
    ///   - next: blocks until there is an event, and gives its bytes; none end the response.
    ///   - end: called when nothing more is wanted, once or more often, on any thread: then `next` returns no bytes,
    ///     also where it blocks.
    public init(greeting: [UInt8], next: @escaping @Sendable () -> [UInt8], end: @escaping @Sendable () -> Void) {
        self.greeting = greeting
        self.next = next
        self.end = end
    }
}
