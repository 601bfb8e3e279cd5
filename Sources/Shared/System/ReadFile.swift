internal import Bytes
internal import Glibc
internal import Synchronization

/// The whole content of a regular file of at most `limit` bytes. Returns in time.
public func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    try inTime(path) { () throws(SystemError) in try readFileBlocking(path, limit: limit) }
}

/// Finds something out about a file. Returns in time: a file of a network mount that does not respond is an error, and
/// the thread that waits for it is left behind.
func inTime<Found: Sendable>(
    _ path: String, _ find: @escaping @Sendable () throws(SystemError) -> Found
) throws(SystemError) -> Found {
    guard filesUnderWay.load(ordering: .relaxed) < maximumFilesUnderWay else {
        throw cannotRead(path, "\(maximumFilesUnderWay) files do not respond")
    }
    let result = Monitor<Result<Found, SystemError>?>(nil)
    _ = try ServiceThread(name: "file") {
        filesUnderWay.add(1, ordering: .relaxed)
        let found = Result { () throws(SystemError) in try find() }
        filesUnderWay.subtract(1, ordering: .relaxed)
        result.change { $0 = found }
    }
    guard let found = result.wait(until: monotonicTime() + .seconds(5), { $0 }) else {
        throw cannotRead(path, "it does not respond within 5 s")
    }
    return try found.get()
}

/// Reads of the process that may hang at a time, each with a thread.
private let maximumFilesUnderWay = 16
private let filesUnderWay = Atomic(0)

/// Reads a file on the calling thread: for files that the kernel makes up, which do not hang.
package func readFileBlocking(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    // The C function would stop at the NUL and open another file.
    guard !path.utf8.contains(0) else { throw cannotRead(path, "the name has a NUL") }
    // Opening a pipe would wait for its other end.
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { throw cannotRead(path, describe(errorNumber: errno)) }
    let file = FileDescriptor(owning: number)
    guard let status = fileStatus(file), status.isRegular else { throw cannotRead(path, "it is not a regular file") }
    let tooLong = cannotRead(path, "it is longer than \(limit) bytes")
    if status.st_size > limit { throw tooLong }
    var content: [UInt8] = []
    // Room for the whole file avoids growing, which would hold it twice. Most files of `/proc` have size 0.
    content.reserveCapacity(Int(status.st_size))
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while content.count <= limit {
        let count = unsafe read(file.number, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 { throw cannotRead(path, describe(errorNumber: errno)) }
        if count == 0 { return content }
        content += buffer[..<count]
    }
    throw tooLong
}

private func cannotRead(_ path: String, _ reason: String) -> SystemError {
    SystemError(.file, "cannot read \(masked(path: path)): \(reason)")
}
