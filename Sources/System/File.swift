internal import Glibc

/// The whole content of a file of at most `limit` bytes. Reads pipes and `/proc` as well as regular files.
public func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let file = try openFile(path)
    var content: [UInt8] = []
    // A large file is read without growing, which would hold it twice; the rest is for the read that finds its end.
    content.reserveCapacity(min(size(of: file), limit) + 4096)
    while true {
        let room = min(max(4096, content.capacity - content.count), limit + 1 - content.count)
        let read = readSome(file, appendingTo: &content, upTo: room)
        if read < 0 {
            throw SystemError(.file, "cannot read \(path): \(describe(errorNumber: errno))")
        }
        if read == 0 { return content }
        if content.count > limit {
            throw SystemError(.file, "cannot read \(path): it is longer than \(limit) bytes")
        }
    }
}

private func openFile(_ path: String) throws(SystemError) -> FileDescriptor {
    // The C function would stop at the NUL and open another file.
    guard !path.utf8.contains(0) else { throw SystemError(.file, "cannot read \(path): the name has a NUL") }
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else {
        throw SystemError(.file, "cannot read \(path): \(describe(errorNumber: errno))")
    }
    return FileDescriptor(owning: number)
}

/// Bytes of a regular file as it is now; 0 for pipes and for most of `/proc`.
private func size(of file: borrowing FileDescriptor) -> Int {
    var status = stat()
    return unsafe fstat(file.number, &status) == 0 ? Int(status.st_size) : 0
}

/// Corresponds to `read`, begun again when a signal interrupts it.
private func readSome(_ file: borrowing FileDescriptor, appendingTo content: inout [UInt8], upTo count: Int) -> Int {
    let start = content.count
    content.append(contentsOf: repeatElement(0, count: count))
    let read = unsafe content.withUnsafeMutableBytes { bytes in
        while true {
            let read = unsafe Glibc.read(file.number, bytes.baseAddress! + start, count)
            if read >= 0 || errno != EINTR { return read }
        }
    }
    let error = errno
    content.removeLast(count - max(read, 0))
    errno = error
    return read
}

/// What changes when a file is written or replaced.
public struct FileStamp: Sendable, Equatable {
    /// Nanoseconds. The time of the inode's change rather than of the content's: it moves with both, and no program can
    /// set it back.
    private let changedAt: Int64
    private let size: Int64
    private let inode: UInt64
    private let device: UInt64

    /// Nil when the file cannot be looked at, for example because it is missing.
    public init?(_ path: String) {
        var status = stat()
        guard !path.utf8.contains(0), unsafe stat(path, &status) == 0 else { return nil }
        changedAt = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        size = Int64(status.st_size)
        inode = UInt64(status.st_ino)
        device = UInt64(status.st_dev)
    }
}
