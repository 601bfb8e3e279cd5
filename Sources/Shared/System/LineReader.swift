internal import Glibc

/// The lines of standard input or a pipe, as they come. Used by one thread at a time.
public struct LineReader: ~Copyable {
    public enum Line: Equatable, Sendable {
        case text([UInt8])
        case tooLong
    }

    private let file: FileDescriptor
    private let limit: Int
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private var unread: Range<Int> = 0..<0

    /// - Parameters:
    ///   - path: of a pipe, which need not have a writer yet; `nil` for standard input.
    ///   - limit: maximum number of bytes in a line, without its end.
    public init(_ path: String?, limit: Int) throws(SystemError) {
        let number =
            if let path {
                // Opening must not wait for a writer.
                unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            } else {
                fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
            }
        guard number >= 0 else {
            let error = ErrorNumber.last
            throw SystemError(.file, "cannot read \(path ?? "standard input"): \(error)")
        }
        file = FileDescriptor(owning: number)
        self.limit = limit
    }

    /// Waits for the next line, and returns it without its end; `nil` at the end of the input.
    public mutating func next() throws(SystemError) -> Line? {
        var line: [UInt8] = []
        var isTooLong = false
        while true {
            if unread.isEmpty, try !fill() {
                if isTooLong { return .tooLong }
                return line.isEmpty ? nil : .text(line)
            }
            let end = buffer[unread].firstIndex(of: UInt8(ascii: "\n"))
            let part = unread.lowerBound..<(end ?? unread.upperBound)
            isTooLong = isTooLong || line.count + part.count > limit
            if isTooLong { line = [] } else { line += buffer[part] }
            guard let end else {
                unread = 0..<0
                continue
            }
            unread = end + 1..<unread.upperBound
            return isTooLong ? .tooLong : .text(line)
        }
    }

    /// Waits for more bytes; returns `false` at the end of the input.
    private mutating func fill() throws(SystemError) -> Bool {
        while true {
            var readable = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&readable, 1, -1)
            let count = unsafe read(file.number, &buffer, buffer.count)
            let error = ErrorNumber.last
            if count >= 0 {
                unread = 0..<count
                return count > 0
            }
            guard error.code == EAGAIN || error.code == EINTR else {
                throw SystemError(.file, "cannot read the input: \(error)")
            }
        }
    }
}

/// Whether the path names a pipe.
public func isPipe(_ path: String) -> Bool { (try? fileStatus(path))?.isPipe ?? false }
