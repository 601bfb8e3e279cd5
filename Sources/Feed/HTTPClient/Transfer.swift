/// One response as it arrives.
struct Transfer {
    let maximumBodyBytes: Int
    /// False when the transfer is to end.
    let isWanted: () -> Bool
    var body: [UInt8] = []
}
