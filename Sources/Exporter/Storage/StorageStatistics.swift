/// Statistics of the storage file.
public struct StorageStatistics: Sendable, Equatable {
    /// Failed attempts to open, write or check the file.
    public var errorCount: UInt64 = 0
    /// Milliseconds since the Unix epoch, up to which the file is complete; `nil` before the first write.
    public var lastWriteAt: Int64?
}
