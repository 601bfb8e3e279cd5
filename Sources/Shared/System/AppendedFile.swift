internal import Glibc

/// A file to which lines are appended, each with one `write`, so that killing the process loses none.
public struct AppendedFile: ~Copyable, Sendable {
    private let path: String
    private let file: FileDescriptor

    /// Creates a missing file, keeps the content of an existing one, and terminates its last line if necessary.
    /// Anything but a regular file is an error: a pipe would block until it has a reader.
    ///
    /// - Parameters:
    ///   - path: `nil` for standard output, duplicated to a descriptor of its own.
    ///   - isPrivate: whether only the file's owner may read it.
    public init(_ path: String?, isPrivate: Bool = false) throws(SystemError) {
        self.path = path ?? "standard output"
        guard path?.utf8.contains(0) != true else { throw Self.cannotWrite(self.path, "the name has a NUL") }
        let number =
            if let path {
                unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, isPrivate ? 0o600 : 0o644)
            } else {
                fcntl(StandardStream.output.rawValue, F_DUPFD_CLOEXEC, 3)
            }
        guard number >= 0 else { throw Self.cannotWrite(self.path, describe(errorNumber: errno)) }
        let file = FileDescriptor(owning: number)
        if let path {
            try Self.endLastLine(of: file, path)
            // An existing file keeps its mode otherwise.
            if isPrivate, fchmod(file.number, 0o600) != 0 { throw Self.cannotWrite(path, describe(errorNumber: errno)) }
        }
        self.file = file
    }

    private static func endLastLine(of file: borrowing FileDescriptor, _ path: String) throws(SystemError) {
        guard let status = try? fileStatus(file), status.isRegular else {
            throw cannotWrite(path, "it is not a regular file")
        }
        var last = UInt8(ascii: "\n")
        // Reads nothing from an empty file.
        _ = unsafe pread(file.number, &last, 1, status.st_size - 1)
        if last != UInt8(ascii: "\n"), let error = writeAll([UInt8(ascii: "\n")], to: file.number).error {
            throw cannotWrite(path, "\(error)")
        }
    }

    /// Appends a whole line; after an error, removes what was written of it if the file can be truncated.
    public func append(_ bytes: [UInt8]) throws(SystemError) {
        let (written, error) = writeAll(bytes, to: file.number)
        guard let error else { return }
        if written > 0, let status = try? fileStatus(file) { _ = ftruncate(file.number, status.st_size - written) }
        throw Self.cannotWrite(path, "\(error)")
    }

    private static func cannotWrite(_ path: String, _ reason: String) -> SystemError {
        SystemError(.file, "cannot write \(path): \(reason)")
    }
}
