internal import Bytes
internal import Synchronization
internal import System

/// What other threads want and see of a server's thread.
final class ServerOrders: Sendable {
    struct Message {
        /// In the order in which they were added, from 0.
        let number: Int
        let group: Int
        /// The same for all clients.
        let frame: [UInt8]
    }

    struct Taken {
        var messages: [Message] = []
        var closeStatus: UInt16?
        /// Stays, once it is set.
        var stops = false
    }

    private struct State {
        var waiting = Taken()
        var bytes = 0
        /// Of all messages so far.
        var count = 0
    }

    let clientCount = Atomic<Int>(0)
    private let fields = Mutex<[HTTPField]>([])
    private let maximumBytes: Int
    private let state = Mutex(State())

    /// - Parameter maximumBytes: the limit of pending bytes; what is added to an empty queue may exceed it.
    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    var headers: [HTTPField] { fields.withLock(\.self) }

    /// - Throws: a `SystemError` that names the one that cannot be sent.
    func setHeaders(_ headers: [HTTPField]) throws(SystemError) {
        if let bad = headers.first(where: { !$0.isValid || $0.isReserved }) {
            throw SystemError(.configuration, "the header \(bad.name) cannot be sent")
        }
        fields.withLock { $0 = headers }
    }

    /// - Parameter frames: with their groups; all of them or none.
    /// - Returns: nil if too much is pending and no frame was added; otherwise whether the queue was empty before.
    func add(_ frames: [(frame: [UInt8], group: Int)]) -> Bool? {
        let bytes = frames.reduce(0) { $0 + $1.frame.count }
        return state.withLock { state in
            let isFirst = state.waiting.messages.isEmpty
            guard isFirst || state.bytes + bytes <= maximumBytes else { return nil }
            for (frame, group) in frames {
                state.waiting.messages.append(Message(number: state.count, group: group, frame: frame))
                state.count += 1
            }
            state.bytes += bytes
            return isFirst
        }
    }

    func close(status: UInt16) {
        state.withLock { $0.waiting.closeStatus = status }
    }

    func stop() {
        state.withLock { $0.waiting.stops = true }
    }

    /// The number of the next message.
    var messageCount: Int { state.withLock { $0.count } }

    var isStopping: Bool { state.withLock { $0.waiting.stops } }

    /// - Returns: the greeting, and the number of the first message that is not in it: none is added while it is made.
    func admit(_ greeting: () -> [[UInt8]]) -> (messages: [[UInt8]], next: Int) {
        state.withLock { (greeting(), $0.count) }
    }

    func take() -> Taken {
        state.withLock { state in
            defer {
                state.waiting = Taken(stops: state.waiting.stops)
                state.bytes = 0
            }
            return state.waiting
        }
    }
}

/// Messages of a group that some of its clients have not been sent yet, oldest first. Each is there once, however many
/// clients wait for it.
struct MessageLog {
    /// What a message takes besides its bytes.
    private static let overhead = 64

    private var messages: [ServerOrders.Message?] = []
    /// How many were removed before those in the array, and how many places at its beginning are empty.
    private var removed = 0
    private var emptyPlaces = 0
    private(set) var byteCount = 0

    /// The position of the oldest one.
    var start: Int { removed + emptyPlaces }
    /// The position behind the newest one.
    var end: Int { removed + messages.count }

    subscript(position: Int) -> ServerOrders.Message { messages[position - removed]! }

    /// - Returns: how many bytes it takes.
    mutating func append(_ message: ServerOrders.Message) -> Int {
        let bytes = message.frame.count + Self.overhead
        messages.append(message)
        byteCount += bytes
        return bytes
    }

    /// Forgets what is before the position.
    mutating func removeAll(before position: Int) {
        while start < position, let message = messages[emptyPlaces] {
            byteCount -= message.frame.count + Self.overhead
            messages[emptyPlaces] = nil
            emptyPlaces += 1
        }
        // Rarely, because it moves what is left.
        guard emptyPlaces * 2 >= messages.count else { return }
        messages.removeSubrange(..<emptyPlaces)
        removed += emptyPlaces
        emptyPlaces = 0
    }
}

/// What new clients of a group are sent before anything else: made once for all who come before the next message.
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

    init(number: Int) {
        self.number = number
    }

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
