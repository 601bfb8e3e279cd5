import TestSupport
import Testing

@testable import System

struct ReadFileTests {
    let directory = TemporaryDirectory()

    @Test(arguments: [0, 1, 4095, 4096, 4097, 10_000])
    func `Files up to the size limit are read whole, and larger ones are rejected`(count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let path = directory.write("file", content)
        #expect(try readFile(path, limit: count) == content)
        #expect(try readFile(path, limit: count + 1) == content)
        guard count > 0 else { return }
        let error = #expect(throws: SystemError.self) { try readFile(path, limit: count - 1) }
        #expect(error?.reason == "cannot read \(path): it is longer than \(count - 1) bytes")
    }

    @Test func `Files that the kernel generates are read`() throws {
        #expect(try readFile("/proc/self/status", limit: 1 << 16).starts(with: Array("Name:".utf8)))
    }

    @Test(
        arguments: [
            ("none", "none: No such file or directory"),
            ("", ": it is not a regular file"),
            ("pipe", "pipe: it is not a regular file"),
            ("a\tb", "a b: No such file or directory"),
            ("a\0b", "a b: the name has a NUL"),
        ])
    func `A read error names the path and the cause on one line`(name: String, expected: String) throws {
        directory.makePipe("pipe")
        let error = #expect(throws: SystemError.self) { try readFile(directory.path + "/" + name, limit: 10) }
        #expect(error?.code == .file)
        #expect(error?.reason == "cannot read \(directory.path)/\(expected)")
    }

    @Test(arguments: ["-----BEGIN PRIVATE KEY----- MIIE", "MIIE\nabc", "Authorization: Bearer abc"])
    func `A file's content passed in place of its name is masked in the error`(_ content: String) {
        let error = #expect(throws: SystemError.self) { try readFile(content, limit: 10) }
        #expect(error?.reason == "cannot read ***: No such file or directory")
    }
}
