internal import Synchronization

/// Collects the lines of a log in the order in which they are written.
public final class WrittenLines: Sendable {
    private let lines = Mutex("")

    public init() {}

    public var text: String { lines.withLock { $0 } }

    public func append(_ bytes: [UInt8]) { lines.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
}
