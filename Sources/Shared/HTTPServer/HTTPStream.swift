/// Endless events as the content of a response, generated as it is sent, on its connection's thread. The next event is
/// requested when the client has taken the previous one, so a slow client costs nothing but its connection; a client
/// that takes nothing for 15 s is disconnected.
public struct HTTPStream: Sendable {
    let greeting: [UInt8]
    let next: @Sendable () -> [UInt8]
    let end: @Sendable () -> Void

    /// - Parameters:
    ///   - greeting: sent at once.
    ///   - next: blocks until there is an event, and returns its bytes; no bytes end the response.
    ///   - end: called on any thread, maybe more than once; makes `next` return no bytes, even while it blocks.
    public init(greeting: [UInt8], next: @escaping @Sendable () -> [UInt8], end: @escaping @Sendable () -> Void) {
        self.greeting = greeting
        self.next = next
        self.end = end
    }
}
