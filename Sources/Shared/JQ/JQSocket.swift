internal import Glibc

/// One end of the socket between a ``JQProcess`` and its worker. Each text follows its length in 8 bytes.
struct JQSocket {
    enum Failure: Error {
        /// The other process has ended.
        case ended
        case stopped
        case timedOut
        /// The other process sends more than is accepted.
        case tooLong
    }

    /// How often the state of a worker is looked at while it does not respond.
    private static let interval = Duration.milliseconds(500)
    /// Intervals without a byte from a worker before it is given up. Its CPU limit ends it earlier, unless it does not
    /// get the processor.
    private static let maximumIntervals = 20
    /// Intervals for which a worker may be stopped, as all processes of a job are by a terminal. It then uses no CPU
    /// time, so its CPU limit never ends it.
    private static let maximumStoppedIntervals = 2

    let descriptor: Int32
    /// The worker; `nil` in the worker itself, which waits for its parent indefinitely.
    let process: pid_t?

    /// Whether the other process has ended.
    var hasEnded: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    func send(_ text: [UInt8]) throws(Failure) {
        let bytes = unsafe withUnsafeBytes(of: text.count) { unsafe Array($0) } + text
        try transfer(bytes.count, when: POLLOUT) { done in
            unsafe bytes.withUnsafeBytes {
                let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
                let sent = unsafe Glibc.send(descriptor, $0.baseAddress! + done, $0.count - done, flags)
                return sent < 0 ? -Int(errno) : sent
            }
        }
    }

    /// - Parameter limit: maximum size of the text, without its first byte.
    func receive(limit: Int = .max - 1) throws(Failure) -> [UInt8] {
        let head = try receive(count: 8)
        let count = unsafe head.withUnsafeBytes { unsafe $0.loadUnaligned(as: Int.self) }
        guard (0...limit + 1).contains(count) else { throw .tooLong }
        return try receive(count: count)
    }

    private func receive(count: Int) throws(Failure) -> [UInt8] {
        var text = [UInt8](repeating: 0, count: count)
        try transfer(count, when: POLLIN) { done in
            unsafe text.withUnsafeMutableBytes {
                let count = unsafe recv(descriptor, $0.baseAddress! + done, $0.count - done, Int32(MSG_DONTWAIT))
                return count < 0 ? -Int(errno) : count
            }
        }
        return text
    }

    /// Repeats a step until `count` bytes are transferred, and waits for `event` where it would block. A step returns
    /// the number of bytes, or a negative error number.
    private func transfer(_ count: Int, when event: Int32, _ step: (_ done: Int) -> Int) throws(Failure) {
        var done = 0
        while done < count {
            let taken = step(done)
            if taken > 0 {
                done += taken
            } else if taken == -Int(EAGAIN) {
                try wait(for: event)
            } else if taken != -Int(EINTR) {
                throw .ended
            }
        }
    }

    private func wait(for event: Int32) throws(Failure) {
        var polled = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        let timeout = process == nil ? -1 : Self.interval.pollMilliseconds
        var stoppedIntervals = 0
        for _ in 0..<Self.maximumIntervals {
            // An interruption by a signal counts as an interval.
            if unsafe poll(&polled, 1, timeout) > 0 { return }
            guard let process else { return }
            stoppedIntervals = Self.isStopped(process) ? stoppedIntervals + 1 : 0
            if stoppedIntervals == Self.maximumStoppedIntervals { throw .stopped }
        }
        throw .timedOut
    }

    private static func isStopped(_ process: pid_t) -> Bool {
        var state = unsafe siginfo_t()
        unsafe waitid(P_PID, id_t(process), &state, WSTOPPED | WNOHANG | WNOWAIT)
        return unsafe state.si_code == CLD_STOPPED
    }
}
