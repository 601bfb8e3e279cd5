internal import Glibc

/// A frame between the two processes: eight bytes with the kind and the length, then the content.
struct JQFrame {
    enum Kind: UInt32 {
        case program, message
        /// A JSON array, or nothing.
        case elements
        /// jq's words.
        case failure
    }

    var kind: Kind
    var content: [UInt8]

    /// - Returns: whether the other process took all of it.
    static func send(_ kind: Kind, _ content: Span<UInt8>, over descriptor: Int32) -> Bool {
        let header = UInt64(kind.rawValue) << 32 | UInt64(content.count)
        return unsafe withUnsafeBytes(of: header) { unsafe write($0, to: descriptor) }
            && content.withUnsafeBytes { unsafe write($0, to: descriptor) }
    }

    /// - Returns: `nil` when the other process has ended.
    static func receive(from descriptor: Int32) -> JQFrame? {
        var header: UInt64 = 0
        guard unsafe withUnsafeMutableBytes(of: &header, { unsafe read(into: $0, from: descriptor) }),
            let kind = Kind(rawValue: UInt32(header >> 32))
        else { return nil }
        var content = [UInt8](repeating: 0, count: Int(header & 0xFFFF_FFFF))
        guard unsafe content.withUnsafeMutableBytes({ unsafe read(into: $0, from: descriptor) }) else { return nil }
        return JQFrame(kind: kind, content: content)
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let count = unsafe Glibc.send(
                descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            unsafe rest = rest.dropFirst(count)
        }
        return true
    }

    private static func read(into bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32) -> Bool {
        var place = 0
        while place < bytes.count {
            let count = unsafe Glibc.read(descriptor, bytes.baseAddress! + place, bytes.count - place)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            place += count
        }
        return true
    }
}
