internal import Glibc

/// A file to whose end lines are written, each with a `write` of its own, so that a kill loses no line that is written.
public struct AppendedFile: ~Copyable, Sendable {
    private let path: String
    private let file: FileDescriptor

    /// Makes the file when there is none. What stands in it stays; a last line without a line break gets one.
    public init(_ path: String) throws(SystemError) {
        self.init(try openForAppending(path), path: path)
    }

    /// The process's standard output under a descriptor of its own.
    public static func standardOutput() throws(SystemError) -> AppendedFile {
        let number = fcntl(StandardStream.output.rawValue, F_DUPFD_CLOEXEC, 3)
        guard number >= 0 else {
            throw SystemError(.file, "cannot write standard output: \(describe(errorNumber: errno))")
        }
        return AppendedFile(FileDescriptor(owning: number), path: "standard output")
    }

    private init(_ file: consuming FileDescriptor, path: String) {
        self.path = path
        self.file = file
    }

    public func append(_ bytes: [UInt8]) throws(SystemError) {
        try write(bytes, to: file, at: path)
    }
}

private func openForAppending(_ path: String) throws(SystemError) -> FileDescriptor {
    guard !path.utf8.contains(0) else { throw SystemError(.file, "cannot write \(path): the name has a NUL") }
    let number = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard number >= 0 else {
        throw SystemError(.file, "cannot write \(path): \(describe(errorNumber: errno))")
    }
    let file = FileDescriptor(owning: number)
    if !endsWithLineBreak(path) { try write([UInt8(ascii: "\n")], to: file, at: path) }
    return file
}

/// Whether the next line can follow at once. True for what is empty and for what is no regular file.
private func endsWithLineBreak(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return true }
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return true }
    let file = FileDescriptor(owning: number)
    var last: UInt8 = 0
    return unsafe pread(file.number, &last, 1, status.st_size - 1) != 1 || last == UInt8(ascii: "\n")
}

private func write(
    _ bytes: [UInt8], to file: borrowing FileDescriptor, at path: String
) throws(SystemError) {
    var written = 0
    while written < bytes.count {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.write(file.number, $0.baseAddress! + written, bytes.count - written)
        }
        if count >= 0 {
            written += count
        } else if errno != EINTR {
            let error = errno
            takeBack(written, from: file)
            throw SystemError(.file, "cannot write \(path): \(describe(errorNumber: error))")
        }
    }
}

/// Half a line would spoil the file for those who read it; where it cannot be taken back, it stays.
private func takeBack(_ count: Int, from file: borrowing FileDescriptor) {
    var status = stat()
    guard count > 0, unsafe fstat(file.number, &status) == 0 else { return }
    _ = ftruncate(file.number, status.st_size - count)
}
