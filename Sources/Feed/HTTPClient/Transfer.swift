/// The body of one response, as it arrives.
final class Transfer {
    private let maximumBodyBytes: Int
    /// False when the transfer is to end.
    let isWanted: () -> Bool
    private(set) var body: [UInt8] = []

    init(maximumBodyBytes: Int, _ isWanted: @escaping () -> Bool) {
        self.maximumBodyBytes = maximumBodyBytes
        self.isWanted = isWanted
    }

    /// False when the body exceeds the limit.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= maximumBodyBytes else { return false }
        unsafe body.append(contentsOf: bytes)
        return true
    }
}
