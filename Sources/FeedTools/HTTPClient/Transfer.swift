/// A response being received.
struct Transfer {
    struct Part {
        let maximumBytes: Int
        private(set) var isTooLong = false
        private(set) var bytes: [UInt8] = []

        /// Returns the number of bytes taken: none if they are too many.
        mutating func append(_ more: UnsafeRawBufferPointer) -> Int {
            isTooLong = bytes.count + more.count > maximumBytes
            if isTooLong { return 0 }
            unsafe bytes.append(contentsOf: more)
            return more.count
        }
    }

    /// Returns `false` to cancel the transfer.
    let isWanted: () -> Bool
    private(set) var isCancelled = false
    /// Status lines, header fields and empty lines of interim and final responses, of which libcurl accepts 300 KiB,
    /// and trailers, which it does not limit.
    var header = Part(maximumBytes: 512 << 10)
    var body: Part

    init(maximumBodyBytes: Int, isWanted: @escaping () -> Bool) {
        self.isWanted = isWanted
        body = Part(maximumBytes: maximumBodyBytes)
    }

    /// Asks whether the transfer is still wanted; returns `false` from the first time that it is not.
    mutating func continues() -> Bool {
        isCancelled = isCancelled || !isWanted()
        return !isCancelled
    }
}
