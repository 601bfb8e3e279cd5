internal import Synchronization

/// Requests of other threads to a server's thread, and the number of clients that it shows them.
final class ServerOrders: Sendable {
    struct Pending {
        /// Frames for all clients, the oldest first.
        var frames: [[UInt8]] = []
        var bytes = 0
        var closeStatus: UInt16?
        /// Stays true once it is set.
        var stops = false
    }

    let clientCount = Atomic<Int>(0)
    private let pending = Mutex(Pending())

    /// Adds a frame unless too many bytes are pending; an empty queue takes any.
    func add(_ frame: [UInt8], within limit: Int) -> Bool {
        pending.withLock { pending in
            guard pending.frames.isEmpty || pending.bytes + frame.count <= limit else { return false }
            pending.frames.append(frame)
            pending.bytes += frame.count
            return true
        }
    }

    func takeFrames() -> [[UInt8]] {
        pending.withLock { pending in
            let frames = pending.frames
            pending.frames = []
            pending.bytes = 0
            return frames
        }
    }

    func close(status: UInt16) { pending.withLock { $0.closeStatus = status } }

    func stop() { pending.withLock { $0.stops = true } }

    func take() -> Pending {
        pending.withLock { pending in
            let taken = pending
            pending = Pending(stops: taken.stops)
            return taken
        }
    }
}
