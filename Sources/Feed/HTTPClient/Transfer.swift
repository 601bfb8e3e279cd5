/// A response being received.
struct Transfer {
    let maximumBodyBytes: Int
    /// Returns `false` to cancel the transfer.
    let isWanted: () -> Bool
    var isCancelled = false
    var isTooLong = false
    var body: [UInt8] = []
}
