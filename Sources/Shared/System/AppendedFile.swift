internal import Glibc

/// A file to which lines are appended, each with one `write`, so that a kill loses no line that was appended.
public struct AppendedFile: ~Copyable, Sendable {
    private let path: String
    private let file: FileDescriptor

    /// Creates the file when there is none. What is in it stays; a last line that was cut off gets its end. Anything
    /// but a regular file is an error: a pipe would have to wait for its reader.
    /// - Parameter path: `nil` = the process's standard output, under a descriptor of its own.
    public init(_ path: String?) throws(SystemError) {
        self.path = path ?? "standard output"
        guard path?.utf8.contains(0) != true else { throw Self.cannotWrite(self.path, "the name has a NUL") }
        let number =
            if let path {
                unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o644)
            } else {
                fcntl(StandardStream.output.rawValue, F_DUPFD_CLOEXEC, 3)
            }
        // A pipe without a reader, or a socket.
        if number < 0, errno == ENXIO { throw Self.cannotWrite(self.path, "it is not a regular file") }
        guard number >= 0 else { throw Self.cannotWrite(self.path, describe(errorNumber: errno)) }
        let file = FileDescriptor(owning: number)
        guard path == nil || fileStatus(file)?.isRegular == true else {
            throw Self.cannotWrite(self.path, "it is not a regular file")
        }
        if let path, !Self.endsWithLineBreak(path), !writeAll([UInt8(ascii: "\n")], to: number) {
            throw Self.cannotWrite(path, describe(errorNumber: errno))
        }
        self.file = file
    }

    /// True also for an empty file.
    private static func endsWithLineBreak(_ path: String) -> Bool {
        guard let status = fileStatus(path), status.st_size > 0 else { return true }
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return true }
        let file = FileDescriptor(owning: number)
        var last: UInt8 = 0
        return unsafe pread(file.number, &last, 1, status.st_size - 1) != 1 || last == UInt8(ascii: "\n")
    }

    /// Appends a whole line; after an error nothing of it stays, where the file can be truncated.
    public func append(_ bytes: [UInt8]) throws(SystemError) {
        let written = writeUntilError(bytes, to: file.number)
        guard written < bytes.count else { return }
        let error = errno
        if written > 0, let status = fileStatus(file) { _ = ftruncate(file.number, status.st_size - written) }
        throw Self.cannotWrite(path, describe(errorNumber: error))
    }

    private static func cannotWrite(_ path: String, _ reason: String) -> SystemError {
        SystemError(.file, "cannot write \(path): \(reason)")
    }
}
