/// A response being received.
struct Transfer {
    /// More than libcurl accepts in headers.
    static let maximumHeaderBytes = 512 << 10

    let maximumBodyBytes: Int
    /// Returns `false` to cancel the transfer.
    let isWanted: () -> Bool
    var isCancelled = false
    var isTooLong = false
    /// Status lines, header fields and empty lines of interim and final responses, and trailers.
    var headerLines: [UInt8] = []
    var body: [UInt8] = []
}
