internal import Glibc

/// The process's standard output and standard error, unbuffered.
public enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    public var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Writes all bytes, in one `write` where the system takes them at once, so that lines of several threads stay
    /// whole. False when the reader is gone or the disk is full.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        writeAll(bytes, to: rawValue)
    }

    @discardableResult
    public func write(_ text: String) -> Bool {
        write(Array(text.utf8))
    }
}

/// A file to which lines are appended, each with one `write`, so that a kill loses no line that was appended.
public struct AppendedFile: ~Copyable, Sendable {
    private let path: String
    private let file: FileDescriptor

    /// Creates the file when there is none. What is in it stays; a last line without a line break gets one.
    public init(_ path: String) throws(SystemError) { self.init(try openForAppending(path), path: path) }

    /// The process's standard output under a descriptor of its own.
    public static func standardOutput() throws(SystemError) -> AppendedFile {
        let number = fcntl(StandardStream.output.rawValue, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else { throw cannotWrite("standard output", describe(errorNumber: errno)) }
        return AppendedFile(FileDescriptor(owning: number), path: "standard output")
    }

    private init(_ file: consuming FileDescriptor, path: String) {
        self.path = path
        self.file = file
    }

    public func append(_ bytes: [UInt8]) throws(SystemError) { try System.append(bytes, to: file, at: path) }
}

private func cannotWrite(_ path: String, _ reason: String) -> SystemError {
    SystemError(.file, "cannot write \(path): \(reason)")
}

private func openForAppending(_ path: String) throws(SystemError) -> FileDescriptor {
    guard !path.utf8.contains(0) else { throw cannotWrite(path, "the name has a NUL") }
    let number = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw cannotWrite(path, describe(errorNumber: errno)) }
    let file = FileDescriptor(owning: number)
    if !endsWithLineBreak(path) { try append([UInt8(ascii: "\n")], to: file, at: path) }
    return file
}

private func append(_ bytes: [UInt8], to file: borrowing FileDescriptor, at path: String) throws(SystemError) {
    let written = writeUntilError(bytes, to: file.number)
    guard written < bytes.count else { return }
    let error = errno
    takeBack(written, from: file)
    throw cannotWrite(path, describe(errorNumber: error))
}

/// Removes a part of a line, which would spoil the file for its readers. What cannot be truncated keeps it.
private func takeBack(_ count: Int, from file: borrowing FileDescriptor) {
    guard count > 0, let status = fileStatus(file) else { return }
    _ = ftruncate(file.number, status.st_size - count)
}

/// True also for an empty file and for anything but a regular file.
private func endsWithLineBreak(_ path: String) -> Bool {
    guard let status = fileStatus(path), status.isRegular, status.st_size > 0 else { return true }
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return true }
    let file = FileDescriptor(owning: number)
    var last: UInt8 = 0
    return unsafe pread(file.number, &last, 1, status.st_size - 1) != 1 || last == UInt8(ascii: "\n")
}

/// Corresponds to `write`, repeated until all is written; false at an error.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    writeUntilError(bytes, to: descriptor) == bytes.count
}

/// - Returns: how many bytes were written; if not all of them, `errno` says why.
private func writeUntilError(_ bytes: [UInt8], to descriptor: Int32) -> Int {
    unsafe bytes.withUnsafeBytes { bytes in
        var start = 0
        while start < bytes.count {
            let written = unsafe write(descriptor, bytes.baseAddress! + start, bytes.count - start)
            if written >= 0 {
                start += written
            } else if errno == EAGAIN {
                // A terminal that another program has made non-blocking.
                var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&writable, 1, -1)
            } else if errno != EINTR {
                break
            }
        }
        return start
    }
}
