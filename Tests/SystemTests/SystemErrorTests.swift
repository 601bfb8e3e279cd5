import Testing

@testable import System

struct SystemErrorTests {
    @Test func `A system error is one line`() {
        #expect(SystemError(.file, "a\r\nb\u{85}c\u{0}d").description == "a  b c d")
    }
}
