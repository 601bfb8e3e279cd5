import TestSupport
import Testing

@testable import System

struct FileIdentityTests {
    let directory = TemporaryDirectory()

    @Test func `A file keeps its identity when it is rewritten or renamed`() throws {
        let path = directory.write("file", "one")
        let identity = try #require(FileIdentity(path))
        #expect(FileIdentity(path + "\0") == nil)

        directory.write("file", "three")
        #expect(FileIdentity(path) == identity)
        directory.move("file", to: "other")
        #expect(FileIdentity(directory.path + "/other") == identity)
        #expect(FileIdentity(path) == nil)

        removeFile(directory.path + "/other")
        removeFile(directory.path + "/other")
        #expect(FileIdentity(directory.path + "/other") == nil)
    }
}
