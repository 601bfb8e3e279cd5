import Glibc

/// A directory of its own below the system's temporary one; it goes with its last owner, and all that is in it.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init(in parent: String? = nil) {
        let variable = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) }
        let parent = parent ?? variable ?? "/tmp"
        var template = Array("\(parent)/air-quality-test-XXXXXX".utf8CString)
        precondition(unsafe mkdtemp(&template) != nil, "\(parent) can be written")
        path = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit { removeTree(path) }

    /// The path of a file in it.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Of the files in it, sorted.
    public var names: [String] { fileNames(in: path) }

    @discardableResult
    public func write(_ name: String, _ content: [UInt8]) -> String {
        let stream = unsafe fopen(file(name), "w")!
        unsafe fwrite(content, 1, content.count, stream)
        unsafe fclose(stream)
        return file(name)
    }

    @discardableResult
    public func write(_ name: String, _ content: String) -> String {
        write(name, Array(content.utf8))
    }

    /// A pipe that nobody writes to.
    public func makePipe(_ name: String) { unsafe mkfifo(file(name), 0o600) }

    public func move(_ name: String, to other: String) { unsafe rename(file(name), file(other)) }

    public func remove(_ name: String) { unsafe unlink(file(name)) }
}

private func fileNames(in path: String) -> [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
            unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

private func removeTree(_ path: String) {
    if unsafe unlink(path) == 0 { return }
    for name in fileNames(in: path) { removeTree("\(path)/\(name)") }
    unsafe rmdir(path)
}
