internal import Synchronization

/// From this size, messages are parsed one at a time per process: each takes about 15 times its size in memory.
private let longMessage = 256 << 10
/// Held while a long message is parsed, by the thread of whichever feed it came from.
private let longMessages = Mutex(())

/// Runs a closure that parses `byteCount` bytes; if they are many, when no other thread does.
public func inTurn<Result: ~Copyable>(_ byteCount: Int, _ parse: () -> Result) -> Result {
    byteCount < longMessage ? parse() : longMessages.withLock { _ in parse() }
}
