import TestSupport
import Testing

@testable import System

@Suite struct AppendedFileTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = TemporaryDirectory()
    }

    @Test(
        "lines follow what stands in the file, each on a line of its own",
        arguments: [(nil, ""), ("", ""), ("old\n", "old\n"), ("cut o", "cut o\n")] as [(String?, String)])
    func appends(old: String?, kept: String) throws {
        let path = directory.path + "/lines"
        if let old { directory.write("lines", old) }
        let file = try AppendedFile(path)
        try file.append(Array("one\n".utf8))
        try file.append([])
        try file.append(Array("two\n".utf8))
        #expect(try readFile(path, limit: 100) == Array((kept + "one\ntwo\n").utf8))
    }

    @Test(
        "errors name the path and the cause on one line",
        arguments: [
            ("none/lines", "none/lines: No such file or directory"), ("", ": Is a directory"),
            ("a\0b", "a b: the name has a NUL"),
        ])
    func errors(name: String, expected: String) {
        let error = #expect(throws: SystemError.self) { _ = try AppendedFile(directory.path + "/" + name) }
        #expect(error?.code == .file)
        #expect(error?.reason == "cannot write \(directory.path)/\(expected)")
    }

    @Test("a full disk is an error") func full() throws {
        let file = try AppendedFile("/dev/full")
        let error = #expect(throws: SystemError.self) { try file.append([1]) }
        #expect(error?.reason == "cannot write /dev/full: No space left on device")
    }
}
