internal import Glibc

/// One end of the socket between a ``JQProgram`` and its worker. Each text follows its length in 8 bytes. A response
/// is JSON, or `!` and an error message.
struct JQSocket {
    let descriptor: Int32

    /// Whether the other process has ended.
    var hasEnded: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    func send(_ text: [UInt8]) -> Bool {
        let bytes = unsafe withUnsafeBytes(of: text.count) { unsafe Array($0) } + text
        return transfer(bytes.count) { done in
            unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// - Returns: `nil` if the other process has ended, exceeds the time-out, or sends more than `limit` bytes.
    func receive(limit: Int = .max) -> [UInt8]? {
        guard let head = receive(count: 8) else { return nil }
        let count = unsafe head.withUnsafeBytes { unsafe $0.loadUnaligned(as: Int.self) }
        return (0...limit).contains(count) ? receive(count: count) : nil
    }

    private func receive(count: Int) -> [UInt8]? {
        var text = [UInt8](repeating: 0, count: count)
        let isWhole = transfer(count) { done in
            unsafe text.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_WAITALL))
            }
        }
        return isWhole ? text : nil
    }

    /// Repeats a step, which a stop of this process may interrupt, until `count` bytes are transferred.
    private func transfer(_ count: Int, _ step: (_ done: Int) -> Int) -> Bool {
        var done = 0
        while done < count {
            let taken = step(done)
            if taken <= 0, taken == 0 || errno != EINTR { return false }
            done += max(0, taken)
        }
        return true
    }
}
