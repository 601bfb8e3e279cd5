import TestSupport
import Testing

@testable import System

struct FileStampTests {
    let directory = TemporaryDirectory()

    @Test func `A file's stamp changes when the file is rewritten or replaced`() throws {
        let path = directory.write("file", "one")
        let first = try #require(FileStamp(path))
        #expect(FileStamp(path) == first)

        directory.write("file", "three")
        let longer = try #require(FileStamp(path))
        #expect(longer != first)

        directory.write("other", "three")
        directory.move("other", to: "file")
        let replaced = try #require(FileStamp(path))
        #expect(replaced != longer)

        directory.remove("file")
        #expect(FileStamp(path) == nil)
    }
}
