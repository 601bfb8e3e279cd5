import TestSupport
import Testing

@testable import System

struct AppendedFileTests {
    let directory = TemporaryDirectory()

    @Test(arguments: [(nil, ""), ("", ""), ("old\n", "old\n"), ("cut o", "cut o\n")] as [(String?, String)])
    func `Lines are appended after the content, whose last line is completed`(old: String?, kept: String) throws {
        let path = directory.path + "/lines"
        if let old { directory.write("lines", old) }
        let file = try AppendedFile(path)
        try file.append(Array("one\n".utf8))
        try file.append([])
        try file.append(Array("two\n".utf8))
        #expect(try readFile(path, limit: 100) == Array((kept + "one\ntwo\n").utf8))
    }

    @Test(
        arguments: [
            ("none/lines", "none/lines: No such file or directory"), ("", ": Is a directory"),
            ("a\0b", "a b: the name has a NUL"), ("pipe", "pipe: it is not a regular file"),
        ])
    func `An error on opening the file names the path and the cause on one line`(name: String, expected: String) {
        directory.makePipe("pipe")
        let error = #expect(throws: SystemError.self) { _ = try AppendedFile(directory.path + "/" + name) }
        #expect(error?.code == .file)
        #expect(error?.reason == "cannot write \(directory.path)/\(expected)")
    }

    @Test func `A device is rejected because it is not a regular file`() {
        let error = #expect(throws: SystemError.self) { _ = try AppendedFile("/dev/full") }
        #expect(error?.reason == "cannot write /dev/full: it is not a regular file")
    }

    @Test func `A failed append names the path and the cause`() throws {
        let file = try AppendedFile("/proc/self/oom_score_adj")
        let error = #expect(throws: SystemError.self) { try file.append([1]) }
        #expect(error?.reason == "cannot write /proc/self/oom_score_adj: Invalid argument")
    }
}
