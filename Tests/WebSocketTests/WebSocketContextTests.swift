import CLibWebSockets
import Glibc
import Testing

@testable import System
@testable import WebSocket

struct WebSocketContextTests {
    private func context() throws -> WebSocketContext {
        let client = WebSocketClient(
            configuration: try configuration(port: 1), onEvent: { _ in }, onMessage: { _, _ in MessageOutcome() })
        let made = WebSocketContext(ClientLoop(client))
        guard let made else { throw SystemError(.system, "libwebsockets cannot make a context") }
        return made
    }

    @Test func `A timer that fires before the wait begins ends the wait`() throws {
        let context = try context()
        let start = monotonicTime()
        for _ in 0..<3 {
            context.scheduleTimer(after: .zero)
            pauseThread(for: .milliseconds(5))
            context.wait()
        }
        // libwebsockets' own timer would end each wait after 30 s.
        #expect(monotonicTime() - start < .seconds(25))
    }

    @Test func `Contexts share no log, because its users are counted without a lock`() throws {
        // libwebsockets 4.1 (Debian 12) does not count them.
        guard let symbol = unsafe dlsym(nil, "lwsl_context_get_cx") else { return }
        let log = unsafe unsafeBitCast(symbol, to: (@convention(c) (OpaquePointer) -> OpaquePointer?).self)
        let one = try context()
        let two = try context()
        #expect(unsafe log(one.context) != log(two.context))
    }
}
