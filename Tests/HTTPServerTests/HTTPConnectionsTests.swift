import Testing

@testable import HTTPServer
@testable import System

/// `EndToEnd/hostile/test_connections.py` tests the limits on connections.
@Suite struct HTTPConnectionsTests {
    private static let one: [UInt8] = [10, 0, 0, 1]
    private static let two: [UInt8] = [10, 0, 0, 2]

    @Test func `A request that exceeds the limit is admitted only while nothing else is`() {
        let limit = RequestLimit(100, perClient: 50, rejection: .busy("too many"))
        #expect(limit.take(120, of: Self.one))
        #expect(!limit.take(of: Self.one))
        #expect(!limit.take(of: Self.two))
        limit.giveBack(120, of: Self.one)
        #expect(limit.take(50, of: Self.one))
        #expect(!limit.take(of: Self.one))
        #expect(limit.take(50, of: Self.two))
        #expect(!limit.take(of: [10, 0, 0, 3]))
    }

    @Test(arguments: [
        (64, 32), (100, 50), (129, 64), (256, 128), (300, 172), (1024, 512), (20_000, 512),
    ])
    func `The connection limit leaves descriptors for the rest of the program`(_ openFiles: Int, _ expected: Int) {
        #expect(OpenFileLimit.room(for: 512, openFiles: openFiles) == expected)
    }
}
