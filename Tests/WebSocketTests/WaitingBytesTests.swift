import Testing

@testable import WebSocket

struct WaitingBytesTests {
    @Test(arguments: [1, 7, 5000, 16 << 10, 1 << 20])
    func `Waiting bytes come out in the order in which they went in`(atMost: Int) {
        var waiting = WaitingBytes()
        var (sent, expected): ([UInt8], [UInt8]) = ([], [])
        for step in 0..<200 {
            let message = [UInt8](repeating: UInt8(step), count: [1, 300, 16 << 10, 20_000][step % 4])
            waiting.append(message)
            expected += message
            // Bytes are taken only after every third message, so that others wait.
            while step % 3 == 0, let first = waiting.first {
                let taken = first.prefix(atMost)
                sent += taken
                let byteCount = waiting.byteCount
                waiting.removeFirst(taken.count)
                #expect(waiting.byteCount <= byteCount - taken.count, "a part of a message counts as sent")
            }
        }
        while let first = waiting.first {
            sent += first
            waiting.removeFirst(first.count)
        }
        #expect(sent == expected)
        #expect(waiting.isEmpty)
    }
}
