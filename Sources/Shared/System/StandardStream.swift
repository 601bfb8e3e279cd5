internal import Glibc

/// The process's standard output and standard error, unbuffered.
public enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes all bytes, in one `write` if the system takes them at once, so that lines of several threads stay
    /// intact. Returns `false` if the reader is gone or the disk is full.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool { writeAll(bytes, to: rawValue).error == nil }

    @discardableResult
    public func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Writes a line of at most 4,096 bytes (`PIPE_BUF`), or nothing if there is no room for it within the time.
    public func write(_ line: String, within limit: Duration) {
        var stream = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        if unsafe poll(&stream, 1, limit.pollMilliseconds) > 0 { write(line) }
    }
}

/// Opens `/dev/null` for each closed standard stream; otherwise the first files and sockets would take their numbers,
/// and log lines would be written to them. Call it first; exits with status 1 if there is no `/dev/null`.
public func openMissingStandardStreams() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
        // This is the lowest free number.
        guard unsafe open("/dev/null", O_RDWR) == number else { endProcess(status: 1) }
    }
}

/// Returns the number of bytes written, and why it is not all of them. Corresponds to repeated `write`.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, error: ErrorNumber?) {
    unsafe bytes.withUnsafeBytes { bytes in
        var start = 0
        while start < bytes.count {
            let written = unsafe write(descriptor, bytes.baseAddress! + start, bytes.count - start)
            if written >= 0 {
                start += written
                continue
            }
            let error = ErrorNumber.last
            if error.code == EAGAIN {
                // Another program has made the terminal non-blocking.
                var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&writable, 1, -1)
            } else if error.code != EINTR {
                return (start, error)
            }
        }
        return (start, nil)
    }
}
