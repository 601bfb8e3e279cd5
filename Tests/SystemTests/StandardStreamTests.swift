import Glibc
import Synchronization
import Testing

@testable import System

struct StandardStreamTests {
    @Test(arguments: [false, true])
    func `More data than a pipe holds is written whole`(nonBlocking: Bool) throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        if nonBlocking { #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0) }
        let (input, output) = (ends[0], ends[1])
        defer { close(input) }
        let written = Atomic(false)
        let writer = try ServiceThread(name: "writes") {
            written.store(writeAll(content, to: output).error == nil, ordering: .releasing)
            close(output)
        }
        let read = readAll(input)
        writer.join()
        let complete = written.load(ordering: .acquiring)
        #expect(complete)
        #expect(read == content)
    }

    @Test func `Writing to a pipe without a reader writes no bytes`() throws {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        close(ends[0])
        let (count, error) = writeAll([1], to: ends[1])
        #expect(count == 0 && error?.code == EPIPE)
        close(ends[1])
    }

    @Test func `Writing nothing does not use the descriptor`() { #expect(writeAll([], to: -1).error == nil) }

    private func readAll(_ input: Int32) -> [UInt8] {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 10_000)
        while true {
            let count = unsafe read(input, &buffer, buffer.count)
            if count > 0 {
                content += buffer[..<count]
            } else if count == 0 {
                return content
            } else {
                var readable = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&readable, 1, -1)
            }
        }
    }
}
