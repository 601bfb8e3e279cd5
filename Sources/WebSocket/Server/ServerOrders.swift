internal import Synchronization

/// What other threads want of a server's thread.
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

    private let maximumBytes: Int
    private let state = Mutex(State())

    /// - Parameter maximumBytes: that may wait, but for a first message.
    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// - Returns: nil when too much waits, and the message is left out; else whether nothing waited before it.
    func add(_ frame: [UInt8], group: Int) -> Bool? {
        state.withLock { state in
            let isFirst = state.waiting.messages.isEmpty
            guard isFirst || state.bytes + frame.count <= maximumBytes else { return nil }
            state.waiting.messages.append(Message(number: state.count, group: group, frame: frame))
            state.bytes += frame.count
            state.count += 1
            return isFirst
        }
    }

    func close(status: UInt16) {
        state.withLock { $0.waiting.closeStatus = status }
    }

    func stop() {
        state.withLock { $0.waiting.stops = true }
    }

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
