import Synchronization
import TestSupport
import Testing

@testable import System

struct LogWriterTests {
    @Test func `Lines are written in order, and a flush waits for them`() {
        let written = Mutex<[UInt8]>([])
        let writer = LogWriter { line in
            written.withLock { $0 += line }
            return line[0] < 99
        }
        for number in 0..<100 { writer.append([UInt8(number)]) }
        writer.flush(within: .seconds(30))
        #expect(written.withLock { $0 } == Array(0..<100))
        // Writing the last one failed.
        #expect(writer.droppedLines == 1)
    }

    @Test(arguments: [(length: 1, waiting: 1000), (1 << 18, 3)])
    func `Lines beyond the limit are dropped and counted without blocking the caller`(length: Int, waiting: Int) {
        let entered = Gate()
        let gate = Gate()
        let count = Mutex(0)
        let writer = LogWriter { _ in
            if count.withLock({ count in
                count += 1
                return count
            }) == 1 {
                entered.open()
                gate.wait()
            }
            return true
        }
        let line = [UInt8](repeating: 1, count: length)
        // Its bytes count until it is written.
        writer.append(line)
        entered.wait()
        for _ in 0..<waiting + 5 { writer.append(line) }
        #expect(writer.droppedLines == 5)
        let start = monotonicTime()
        writer.flush(within: .milliseconds(50))
        #expect(monotonicTime() - start >= .milliseconds(50))
        gate.open()
        writer.flush(within: .seconds(30))
        #expect(count.withLock { $0 } == waiting + 1)
        writer.append(line)
        #expect(writer.droppedLines == 5)
    }
}
