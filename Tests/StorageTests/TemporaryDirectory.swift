import Glibc

/// A directory that goes with its last owner.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/storage-tests-XXXXXX".utf8CString)
        precondition(unsafe mkdtemp(&template) != nil, "/tmp can be written")
        path = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit {
        for name in names { _ = unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Of the files in it, sorted.
    var names: [String] {
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
}
