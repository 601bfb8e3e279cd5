import TestSupport
import Testing

@testable import HTTPServer

@Suite struct UnsentResponsesTests {
    private static func entry(
        _ socket: Int32, of client: UInt8, _ pieces: [[UInt8]], since time: Int64 = 0
    ) -> UnsentResponses.Entry {
        let peer = PeerAddress(bytes: [10, 0, 0, client])
        let connection = HTTPConnection(socket: socket, peer: peer, deadline: CoarseTime(milliseconds: 0))
        return UnsentResponses.Entry(
            socket: socket, client: peer.client, since: CoarseTime(milliseconds: time),
            content: LargeContent(pieces, on: connection))
    }

    private static func bytes(_ count: Int) -> [[UInt8]] { [[UInt8](repeating: 7, count: count)] }

    private static func admit(
        _ entry: UnsentResponses.Entry, in responses: inout UnsentResponses, slow: Set<Int32> = []
    ) -> [Int32]? {
        responses.admit(entry) { slow.contains($0.socket) }?.map(\.socket)
    }

    @Test func theClientThatHoldsMostMakesRoom() {
        var responses = UnsentResponses(budget: 100)
        for socket in 1...4 as ClosedRange<Int32> {
            #expect(
                Self.admit(Self.entry(socket, of: 1, Self.bytes(25), since: Int64(10 - socket)), in: &responses) == [])
        }
        #expect(responses.bytes == 100)
        // Its own address is refused; another one takes the room of the oldest.
        #expect(Self.admit(Self.entry(5, of: 1, Self.bytes(25)), in: &responses) == nil)
        #expect(Self.admit(Self.entry(6, of: 2, Self.bytes(30)), in: &responses) == [4, 3])
        #expect(responses.bytes == 80)
        // Neither holds less than the other afterwards.
        #expect(Self.admit(Self.entry(7, of: 2, Self.bytes(25)), in: &responses) == nil)
        #expect(responses.bytes == 80)
        for socket in 1...9 as ClosedRange<Int32> { responses.release(socket: socket) }
        #expect(responses.bytes == 0)
    }

    @Test func aSlowClientMakesRoomForAnybody() {
        var responses = UnsentResponses(budget: 100)
        _ = Self.admit(Self.entry(1, of: 1, Self.bytes(50)), in: &responses)
        _ = Self.admit(Self.entry(2, of: 2, Self.bytes(50)), in: &responses)
        #expect(Self.admit(Self.entry(3, of: 3, Self.bytes(50)), in: &responses) == nil)
        #expect(Self.admit(Self.entry(3, of: 3, Self.bytes(50)), in: &responses, slow: [2]) == [2])
        #expect(Self.admit(Self.entry(4, of: 1, Self.bytes(50)), in: &responses, slow: [1]) == [1])
    }

    /// A scrape of an unchanged page has only its last piece of its own.
    @Test func sharedPiecesCountOnce() {
        var responses = UnsentResponses(budget: 100)
        let page = Self.bytes(60)
        for socket in 1...40 as ClosedRange<Int32> {
            #expect(Self.admit(Self.entry(socket, of: UInt8(socket), page + Self.bytes(1)), in: &responses) == [])
        }
        #expect(responses.bytes == 50)
        for socket in 1...39 as ClosedRange<Int32> { responses.release(socket: socket) }
        #expect(responses.bytes == 50)
        responses.release(socket: 40)
        #expect(responses.bytes == 0)
    }

    @Test func thereIsRoomForTwoOfAnySize() {
        var responses = UnsentResponses(budget: 100)
        #expect(Self.admit(Self.entry(1, of: 1, Self.bytes(1000)), in: &responses) == [])
        #expect(Self.admit(Self.entry(2, of: 2, Self.bytes(1000)), in: &responses) == [])
        #expect(Self.admit(Self.entry(3, of: 3, Self.bytes(1000)), in: &responses) == nil)
    }

    @Test func muchThatIsReleasedIsNoticedOnce() {
        var responses = UnsentResponses(budget: 100)
        var noticed: [Bool] = []
        for count in [1, 3] {
            for socket in 1...Int32(count) {
                _ = Self.admit(Self.entry(socket, of: 1, Self.bytes(30)), in: &responses)
            }
            noticed.append(responses.hasShrunk())
            for socket in 1...Int32(count) { responses.release(socket: socket) }
            noticed.append(responses.hasShrunk())
            noticed.append(responses.hasShrunk())
        }
        #expect(noticed == [false, false, false, false, true, false])
    }

    /// Readers of large responses that take nothing lose one to a reader at another address, which gets all of it.
    @Test func aReaderAtAnotherAddressIsServed() throws {
        let server = try serve { _ in HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 7, count: 30 << 20))) }
        let readers = try (0..<4).map { _ in try server.connect(receiveBuffer: 4096, from: 2) }
        let heads = try readers.map { reader in
            reader.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            return try reader.readHead().status
        }
        #expect(heads == [200, 200, 503, 503])
        #expect(try server.connect(from: 3).request("/").body.count == 30 << 20)
        #expect(((try? readers[0].readToEnd()) ?? []).count < 30 << 20)
    }
}
