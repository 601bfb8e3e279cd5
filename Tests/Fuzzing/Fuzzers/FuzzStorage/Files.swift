import Glibc

/// The names of the files in a folder, sorted.
func fileNames(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
            unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
}

func contents(of path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "r") else { fatalError("cannot read \(path): errno \(errno)") }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}

func write(_ bytes: [UInt8], to path: String) {
    guard let file = unsafe fopen(path, "w") else { fatalError("cannot write \(path): errno \(errno)") }
    let count = unsafe fwrite(bytes, 1, bytes.count, file)
    guard unsafe fclose(file) == 0, count == bytes.count else { fatalError("cannot write \(path): errno \(errno)") }
}
