/// Messages of a group that some of its clients have not been sent yet, oldest first. Each is there once, however many
/// clients wait for it.
struct MessageLog {
    /// Of a message besides its bytes.
    private static let overhead = 64

    private var messages: [Int: ServerOrders.Message] = [:]
    /// The position of the oldest one, and the one behind the newest.
    private(set) var start = 0
    private(set) var end = 0
    private(set) var byteCount = 0

    subscript(position: Int) -> ServerOrders.Message { messages[position]! }

    /// - Returns: how many bytes it takes.
    mutating func append(_ message: ServerOrders.Message) -> Int {
        let bytes = message.frame.count + Self.overhead
        messages[end] = message
        end += 1
        byteCount += bytes
        return bytes
    }

    /// Forgets what is before the position.
    mutating func removeAll(before position: Int) {
        while start < position, let message = messages.removeValue(forKey: start) {
            start += 1
            byteCount -= message.frame.count + Self.overhead
        }
    }
}

/// The messages that new clients of a group are sent first: made once for all who come before the next message.
final class Greeting {
    let frames: [[UInt8]]
    let byteCount: Int
    /// The number of the first message that is not in it.
    let next: Int
    let madeAt: Duration

    init(_ messages: [[UInt8]], next: Int, madeAt: Duration) {
        var frames = messages
        // One after the other, so that both are never there whole.
        for index in frames.indices { frames[index] = FrameWriter.frame(.text, frames[index], mask: nil) }
        self.frames = frames
        byteCount = frames.reduce(0) { $0 + $1.count }
        self.next = next
        self.madeAt = madeAt
    }
}

/// The clients that are sent the same messages.
final class ServerGroup {
    let number: Int
    var clients: [UInt: ServerConnection] = [:]
    var log = MessageLog()
    var greeting: Greeting?

    init(number: Int) { self.number = number }

    /// Forgets messages that all clients were sent.
    /// - Returns: how many bytes became free.
    func trim() -> Int {
        let before = log.byteCount
        var position = log.end
        for client in clients.values {
            position = min(position, client.position)
            if position == log.start { return 0 }
        }
        log.removeAll(before: position)
        return before - log.byteCount
    }
}
