internal import Glibc

/// The process's standard output and standard error, unbuffered.
public enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes all bytes, in one `write` where the system takes them at once, so that lines of several threads stay
    /// whole. False when the reader is gone or the disk is full.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let written = unsafe Glibc.write(rawValue, rest.baseAddress, rest.count)
                if written >= 0 {
                    unsafe rest = rest.dropFirst(written)
                } else if errno == EAGAIN {
                    // A terminal that another program has made non-blocking.
                    var writable = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                    _ = unsafe poll(&writable, 1, -1)
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }

    @discardableResult
    public func write(_ text: String) -> Bool {
        write(Array(text.utf8))
    }
}

extension Slice where Base == UnsafeRawBufferPointer {
    fileprivate var baseAddress: UnsafeRawPointer? {
        unsafe UnsafeRawBufferPointer(rebasing: self).baseAddress
    }
}
