/// The texts of a program, each after its length in four bytes, within the limits for a message.
struct JQTexts {
    static let maximumCount = 16
    static let maximumBytes = 64 << 10

    private(set) var bytes: [UInt8] = []
    private var count = 0
    private var byteCount = 0

    /// Returns `false` if there are too many texts.
    mutating func append(_ text: some Collection<UInt8>) -> Bool {
        count += 1
        byteCount += text.count
        guard count <= Self.maximumCount, byteCount <= Self.maximumBytes else { return false }
        unsafe withUnsafeBytes(of: UInt32(text.count).littleEndian) { unsafe bytes.append(contentsOf: $0) }
        bytes += text
        return true
    }

    static func list(in bytes: [UInt8]) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            texts.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return texts
    }
}
