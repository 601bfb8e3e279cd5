package import Glibc
internal import Synchronization

/// The one owner of an open file descriptor; its `deinit` closes it.
package struct FileDescriptor: ~Copyable {
    package let number: Int32

    package init(owning number: Int32) { self.number = number }

    deinit { _ = close(number) }
}

// MARK: Reading

/// The whole content of a regular file of at most `limit` bytes. Returns in time: a file of a network mount that does
/// not respond is an error, and the thread that reads it is left behind.
public func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    guard filesUnderWay.load(ordering: .relaxed) < maximumFilesUnderWay else {
        throw SystemError(.file, "cannot read \(path): \(maximumFilesUnderWay) files do not respond")
    }
    let result = Monitor<Result<[UInt8], SystemError>?>(nil)
    _ = try ServiceThread(name: "file") {
        filesUnderWay.add(1, ordering: .relaxed)
        let read = Result { () throws(SystemError) in try readFileBlocking(path, limit: limit) }
        filesUnderWay.subtract(1, ordering: .relaxed)
        result.change { $0 = read }
    }
    guard let read = result.wait(until: monotonicTime() + .seconds(5), { $0 }) else {
        throw SystemError(.file, "cannot read \(path): it does not respond within 5 s")
    }
    return try read.get()
}

/// Reads of the process that may hang at a time, each with a thread.
private let maximumFilesUnderWay = 16
private let filesUnderWay = Atomic(0)

/// Reads a file on the calling thread: for files that the kernel makes up, which do not hang.
func readFileBlocking(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let file = try openFile(path)
    var content: [UInt8] = []
    // Room for the whole file avoids growing, which would hold it twice. Most files of `/proc` have size 0.
    let size = Int(fileStatus(file)?.st_size ?? 0)
    let tooLong = SystemError(.file, "cannot read \(path): it is longer than \(limit) bytes")
    if size > limit { throw tooLong }
    content.reserveCapacity(size)
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
        let count = unsafe read(file.number, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 { throw SystemError(.file, "cannot read \(path): \(describe(errorNumber: errno))") }
        if count == 0 { return content }
        content += buffer[..<count]
        if content.count > limit { throw tooLong }
    }
}

private func openFile(_ path: String) throws(SystemError) -> FileDescriptor {
    // The C function would stop at the NUL and open another file.
    guard !path.utf8.contains(0) else { throw SystemError(.file, "cannot read \(path): the name has a NUL") }
    // Opening a pipe would wait for its other end.
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { throw SystemError(.file, "cannot read \(path): \(describe(errorNumber: errno))") }
    let file = FileDescriptor(owning: number)
    guard fileStatus(file)?.isRegular == true else {
        throw SystemError(.file, "cannot read \(path): it is not a regular file")
    }
    return file
}

// MARK: Names

/// Device and inode of a file: the same as long as it is the same file, whatever its name and content.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64

    /// `nil` when the file cannot be looked at.
    package init?(_ path: String) {
        guard let status = fileStatus(path) else { return nil }
        self.init(status)
    }

    fileprivate init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// A value that changes when a file is written or replaced.
public struct FileStamp: Sendable, Equatable {
    private let identity: FileIdentity
    private let size: Int64
    /// Nanoseconds. The time of the inode's change rather than of the content's: it moves with both, and no program can
    /// set it back.
    private let changedAt: Int64

    /// `nil` when the file cannot be looked at.
    public init?(_ path: String) {
        guard let status = fileStatus(path) else { return nil }
        identity = FileIdentity(status)
        size = Int64(status.st_size)
        changedAt = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    }
}

/// The status of a file, `nil` when it cannot be looked at: then `errno` says why. Corresponds to `stat`, or for a
/// link itself to `lstat`.
package func fileStatus(_ path: String, followsLink: Bool = true) -> stat? {
    var status = stat()
    guard !path.utf8.contains(0), unsafe (followsLink ? stat : lstat)(path, &status) == 0 else { return nil }
    return status
}

/// Corresponds to `fstat`.
package func fileStatus(_ file: borrowing FileDescriptor) -> stat? {
    var status = stat()
    return unsafe fstat(file.number, &status) == 0 ? status : nil
}

extension stat {
    package var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    package var isSocket: Bool { st_mode & S_IFMT == S_IFSOCK }
}

/// The path without symbolic links; as it is when the file is missing. Corresponds to `realpath`.
package func resolvedPath(_ path: String) -> String {
    guard let name = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(name) }
    return unsafe String(cString: name)
}

/// Corresponds to `access`.
package func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

/// A missing file is not an error. Corresponds to `unlink`.
package func removeFile(_ path: String) { _ = unsafe unlink(path) }

/// Replaces a file that has the new name. Corresponds to `rename`; the error is only the text for the `errno`.
package func renameFile(_ path: String, to target: String) throws(SystemError) {
    guard unsafe rename(path, target) == 0 else { throw SystemError(.file, describe(errorNumber: errno)) }
}
