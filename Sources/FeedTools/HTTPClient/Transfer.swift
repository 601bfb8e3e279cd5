/// A response being received.
struct Transfer {
    struct Part {
        let maximumBytes: Int
        var isTooLong = false
        var bytes: [UInt8] = []
    }

    /// Returns `false` to cancel the transfer.
    let isWanted: () -> Bool
    var isCancelled = false
    /// Status lines, header fields and empty lines of interim and final responses, of which libcurl accepts 300 KiB,
    /// and trailers, which it does not limit.
    var header = Part(maximumBytes: 512 << 10)
    var body: Part
}
