internal import CLibWebSockets
internal import Synchronization

/// Ends a wait in `lws_service` from any thread: `lws_cancel_service` is the one function that other threads may call.
@safe final class LoopWaker: Sendable {
    /// @unchecked: the pointer is only used under the lock, and taken away under it before the context is destroyed.
    @safe private struct Target: @unchecked Sendable {
        var context: OpaquePointer?
    }

    private let target = Mutex(Target())

    /// The next `service` ends at once, or the one that is waiting; nothing happens without a context.
    func wake() {
        target.withLock { target in
            if let context = unsafe target.context { unsafe lws_cancel_service(context) }
        }
    }

    /// - Parameter context: `nil` before it is destroyed.
    func aim(at context: OpaquePointer?) { target.withLock { unsafe $0.context = context } }
}
