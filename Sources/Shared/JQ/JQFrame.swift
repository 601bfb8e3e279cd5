internal import Glibc

/// A frame between the two processes: eight bytes with the kind and the length, then the content.
struct JQFrame {
    enum Kind: UInt32 {
        /// A message, or a JSON array of elements; empty = none.
        case content
        /// jq's words.
        case failure
    }

    var kind = Kind.content
    var content: [UInt8] = []

    /// - Returns: whether the other process took all of it.
    static func send(_ kind: Kind, _ content: Span<UInt8>, over descriptor: Int32) -> Bool {
        var header = UInt64(kind.rawValue) << 32 | UInt64(content.count)
        let isBegun = unsafe Glibc.send(descriptor, &header, 8, Int32(MSG_NOSIGNAL)) == 8
        return unsafe isBegun
            && content.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count
            }
    }

    /// - Returns: `nil` when the other process has ended.
    static func receive(from descriptor: Int32) -> JQFrame? {
        var header: UInt64 = 0
        guard unsafe recv(descriptor, &header, 8, Int32(MSG_WAITALL)) == 8,
            let kind = Kind(rawValue: UInt32(header >> 32))
        else { return nil }
        var content = [UInt8](repeating: 0, count: Int(header & 0xFFFF_FFFF))
        if content.isEmpty { return JQFrame(kind: kind) }
        let count = unsafe recv(descriptor, &content, content.count, Int32(MSG_WAITALL))
        return count == content.count ? JQFrame(kind: kind, content: content) : nil
    }
}
