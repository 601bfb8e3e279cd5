internal import CCurl
internal import Synchronization

/// Ends a client's request or wait from any thread, and all that it is asked for after that.
@safe public final class HTTPCancellation: Sendable {
    /// @unchecked: the pointer is only used under the lock, and taken away under it before the handle is cleaned up.
    @safe private struct State: @unchecked Sendable {
        var isCancelled = false
        var multi: UnsafeMutableRawPointer?
    }

    private let state = Mutex(State())

    public init() {}

    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // The one function that other threads may call.
            if let multi = unsafe state.multi { unsafe curl_multi_wakeup(multi) }
        }
    }

    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func arm(_ multi: UnsafeMutableRawPointer) {
        state.withLock { unsafe $0.multi = multi }
    }

    func disarm() {
        state.withLock { unsafe $0.multi = nil }
    }
}
