import Testing

@testable import HTTPServer
@testable import System

/// `EndToEnd/hostile/test_connections.py` tests the limits on connections.
@Suite struct HTTPConnectionsTests {
    @Test(arguments: [
        (64, 32), (100, 50), (129, 64), (256, 128), (300, 172), (1024, 512), (20_000, 512),
    ])
    func `The connection limit leaves descriptors for the rest of the program`(_ openFiles: Int, _ expected: Int) {
        #expect(OpenFileLimit.room(for: 512, openFiles: openFiles) == expected)
    }
}
