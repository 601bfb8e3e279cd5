internal import Glibc

/// One end of the socket between a ``JQProgram`` and its worker. Eight bytes before each text have its length; a
/// response is JSON, or `!` and the words of an error.
struct JQSocket {
    let descriptor: Int32

    /// Whether the other process is gone.
    var hasEnded: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// - Returns: whether the other process took all of it.
    func send(_ text: [UInt8]) -> Bool {
        let bytes = unsafe withUnsafeBytes(of: text.count) { unsafe Array($0) } + text
        return unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// - Returns: `nil` when the other process has ended, or has more bytes than `limit` for this one.
    func receive(limit: Int = .max) -> [UInt8]? {
        var count = 0
        let isThere = unsafe recv(descriptor, &count, 8, Int32(MSG_WAITALL)) == 8
        guard isThere, (0...limit).contains(count) else { return nil }
        var text = [UInt8](repeating: 0, count: count)
        return unsafe count == 0 || recv(descriptor, &text, count, Int32(MSG_WAITALL)) == count ? text : nil
    }
}
