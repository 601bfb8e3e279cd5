/// One response as it arrives.
struct Transfer {
    let maximumBodyBytes: Int
    /// False when the transfer is to end.
    let isWanted: () -> Bool
    /// The transfer was no longer wanted.
    var isCancelled = false
    var body: [UInt8] = []
}
