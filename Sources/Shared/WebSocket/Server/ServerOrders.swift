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

    /// - Parameter maximumBytes: the limit of pending bytes; what is added to an empty queue may exceed it.
    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
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
