public struct StorageStatistics: Sendable, Equatable {
    /// Failed attempts to open, write or check the file.
    public var errorCount: UInt64 = 0
    /// When the last batch was committed, milliseconds since the Unix epoch; nil before the first.
    public var lastWriteAt: Int64?
    /// One line; kept after recovery.
    public var lastError: String?
}
