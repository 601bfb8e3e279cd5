internal import Glibc

/// Queue of bytes to send. Pieces are shared with the caller, not copied.
struct WaitingBytes {
    /// Approximate memory that a piece takes in addition to its bytes.
    private static let overhead = 64

    private var pieces: ArraySlice<[UInt8]> = []
    /// Number of bytes of the first piece that have been sent.
    private var sent = 0
    /// Unsent bytes, including the overhead of their pieces.
    private(set) var byteCount = 0

    var isEmpty: Bool { pieces.isEmpty }

    var first: ArraySlice<UInt8>? { pieces.first?[sent...] }

    mutating func append(_ bytes: [UInt8]) {
        pieces.append(bytes)
        byteCount += bytes.count + Self.overhead
    }

    /// - Parameter count: at most `first.count`.
    mutating func removeFirst(_ count: Int) {
        sent += count
        byteCount -= count
        guard sent == pieces.first?.count else { return }
        byteCount -= Self.overhead
        // A slice keeps the memory of removed elements.
        pieces[pieces.startIndex] = []
        pieces.removeFirst()
        sent = 0
    }

    /// Sends as much as the kernel accepts; returns `false` if the connection is broken. Corresponds to `send`.
    ///
    /// Not `lws_write`: while it buffers what the kernel does not accept, libwebsockets neither reads nor waits, so a
    /// peer that sends but never reads would keep a processor busy.
    mutating func send(to descriptor: Int32) -> Bool {
        while let piece = first {
            let (count, error) = unsafe piece.withUnsafeBytes {
                let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                return (unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags), errno)
            }
            if count < 0 { return error == EAGAIN || error == EINTR }
            removeFirst(count)
            if count < piece.count { return true }
        }
        return true
    }
}
