import Testing

@testable import System

struct NotifySocketTests {
    @Test(
        arguments: [
            ("/run/systemd/notify", Array("/run/systemd/notify".utf8)),
            ("@abstract", [0] + Array("abstract".utf8)),
            ("relative", nil),
            ("vsock:2:1234", nil),
            ("/", nil),
            ("@", nil),
            ("", nil),
            ("/" + String(repeating: "a", count: 106), Array(("/" + String(repeating: "a", count: 106)).utf8)),
            ("/" + String(repeating: "a", count: 107), nil),
        ] as [(String, [UInt8]?)])
    func `NOTIFY_SOCKET must be an absolute path or an abstract name`(path: String, expected: [UInt8]?) {
        #expect(NotifySocket.address(of: path) == expected)
    }

    @Test(
        arguments: [
            (nil, nil, nil),
            ("30000000", nil, .seconds(30)),
            ("30000000", "42", .seconds(30)),
            ("30000000", "43", nil),
            ("30000000", "x", nil),
            ("0", nil, nil),
            ("-5", nil, nil),
            ("x", nil, nil),
        ] as [(String?, String?, Duration?)])
    func `The watchdog is only for the process it names`(microseconds: String?, process: String?, expected: Duration?) {
        let environment = ["WATCHDOG_USEC": microseconds, "WATCHDOG_PID": process].compactMapValues(\.self)
        #expect(NotifySocket.watchdogInterval(environment: environment, process: 42) == expected)
    }

    @Test func `Without NOTIFY_SOCKET there is no notify socket`() { #expect(NotifySocket(environment: [:]) == nil) }
}
