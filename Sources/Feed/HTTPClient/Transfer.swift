/// The body of one response, as it arrives.
final class Transfer {
    private let maximumBodyBytes: Int
    private let isWanted: () -> Bool
    private(set) var isCancelled = false
    /// The body exceeded the limit.
    private(set) var isTooLong = false
    private(set) var body: [UInt8] = []

    init(maximumBodyBytes: Int, _ isWanted: @escaping () -> Bool) {
        self.maximumBodyBytes = maximumBodyBytes
        self.isWanted = isWanted
    }

    /// False when the transfer is to end.
    func goOn() -> Bool {
        if !isCancelled, !isWanted() { isCancelled = true }
        return !isCancelled
    }

    /// False when the transfer is to end.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= maximumBodyBytes else {
            isTooLong = true
            return false
        }
        unsafe body.append(contentsOf: bytes)
        return true
    }
}
