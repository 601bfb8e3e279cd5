internal import Glibc

/// Bytes that wait to be sent, in their order. Pieces are shared with their sender, not copied.
struct WaitingBytes {
    /// Memory that a piece takes besides its bytes, about.
    private static let overhead = 64

    private var pieces: ArraySlice<[UInt8]> = []
    /// Sent bytes of the first piece.
    private var sent = 0
    /// Unsent bytes, and the memory that their pieces take besides.
    private(set) var byteCount = 0

    var isEmpty: Bool { pieces.isEmpty }

    /// The unsent rest of the first piece.
    var first: ArraySlice<UInt8>? { pieces.first?[sent...] }

    mutating func append(_ bytes: [UInt8]) {
        pieces.append(bytes)
        byteCount += bytes.count + Self.overhead
    }

    /// - Parameter count: at most that of `first`.
    mutating func removeFirst(_ count: Int) {
        sent += count
        byteCount -= count
        guard sent == pieces.first?.count else { return }
        byteCount -= Self.overhead
        // The bytes before a slice stay in memory.
        pieces[pieces.startIndex] = []
        pieces.removeFirst()
        sent = 0
    }

    /// Sends as much as the kernel takes; false when the connection is broken. Corresponds to `send`.
    ///
    /// `lws_write` keeps what the kernel does not take, and as long as it does, libwebsockets reads nothing and does
    /// not wait either: a peer that sends and never reads would take all of the processor.
    mutating func send(to descriptor: Int32) -> Bool {
        while let piece = first {
            let count = unsafe piece.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count < 0 { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR }
            removeFirst(count)
            if count < piece.count { return true }
        }
        return true
    }
}
