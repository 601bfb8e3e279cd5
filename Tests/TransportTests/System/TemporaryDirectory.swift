import Glibc

@testable import Transport

/// An own directory below the system's temporary one; removed with its files at the end of the test.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws(TransportError) {
        let parent = environmentVariable("TMPDIR") ?? "/tmp"
        path = "\(parent)/air-quality-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        guard unsafe mkdir(path, 0o700) == 0 else {
            throw TransportError(.file, "cannot make \(path): \(describe(errorNumber: errno))")
        }
    }

    @discardableResult
    func write(_ name: String, _ content: [UInt8]) -> String {
        let file = path + "/" + name
        let stream = unsafe fopen(file, "w")!
        unsafe fwrite(content, 1, content.count, stream)
        unsafe fclose(stream)
        return file
    }

    @discardableResult
    func write(_ name: String, _ content: String) -> String {
        write(name, Array(content.utf8))
    }

    func move(_ name: String, to other: String) {
        unsafe rename(path + "/" + name, path + "/" + other)
    }

    func remove(_ name: String) {
        unsafe unlink(path + "/" + name)
    }

    deinit {
        if let directory = unsafe opendir(path) {
            while let entry = unsafe readdir(directory) {
                let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { remove(name) }
            }
            unsafe closedir(directory)
        }
        unsafe rmdir(path)
    }
}
