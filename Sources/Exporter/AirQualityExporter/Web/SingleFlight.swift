import System

/// A value that is made by one caller at a time for all who wait for it.
///
/// A caller that asks while a value is being made gets the next one: a value is never older than the question, and
/// nobody waits for more than two to be made, however many ask.
final class SingleFlight<Value: Sendable>: Sendable {
    private struct State: Sendable {
        /// Number of values that were begun.
        var begun: UInt64 = 0
        /// Number of values that are finished: one less while one is being made.
        var finished: UInt64 = 0
        var last: Value?
    }

    private enum Turn {
        case make
        case take(Value)
    }

    private let state = Monitor(State())

    /// The value that was made last; `nil` before the first.
    var last: Value? { state.read { $0.last } }

    /// Gives a value whose making begins after the call, on this thread or on another.
    ///
    /// - Parameter make: gets the last value. Called without a lock.
    func value(_ make: (Value?) -> Value) -> Value {
        let wanted = state.read { $0.begun + 1 }
        let turn = state.wait { state -> Turn? in
            if state.finished >= wanted, let last = state.last { return .take(last) }
            guard state.begun == state.finished else { return nil }
            state.begun += 1
            return .make
        }
        if case .take(let value) = turn { return value }
        let value = make(last)
        state.change { state in
            state.finished = state.begun
            state.last = value
        }
        return value
    }
}
