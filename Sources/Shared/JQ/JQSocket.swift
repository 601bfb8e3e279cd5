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
        return transfer(bytes.count) { done in
            unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_NOSIGNAL))
            }
        }
    }

    /// - Returns: `nil` when the other process has ended or is silent for the socket's time, or has more bytes than
    ///   `limit` for this one.
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

    /// Repeats a step, which a stop of this process interrupts, until so many bytes have been taken.
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
