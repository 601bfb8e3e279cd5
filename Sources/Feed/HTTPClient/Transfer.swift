/// One response as it arrives.
struct Transfer {
    let maximumBodyBytes: Int
    /// False when the transfer is to end.
    let isWanted: () -> Bool
    var isCancelled = false
    var body: [UInt8] = []
}
