import Bytes
import FeedSimulation
import Foundation
import TestSupport
import Testing
import WebSocket

/// Runs the body with a feed on a free port.
func withFeed(_ arguments: [String], _ body: (_ program: RunningProgram, _ address: String) throws -> Void) throws {
    let program = try RunningProgram("air-quality-feed", arguments + ["--listen=127.0.0.1:0"])
    defer { program.kill(SIGKILL) }
    let line = try program.waitForOutput()
    let address = try #require(line.wholeMatch(of: /listening on (ws:\/\/127\.0\.0\.1:[1-9][0-9]*\/)/))
    try body(program, String(address.1))
}

struct SimulateTests {
    @Test func `Every flag takes effect`() throws {
        try withFeed(["--cities=30", "--coverage=1", "--batch=7", "--drift=1", "--seed=9", "--interval=1ms"]) {
            program, address in
            let listener = try FeedListener(address)
            #expect(listener.waitForMessages(25))
            var simulator = FeedSimulator(
                cities: 30, coverage: 1, seed: 9, drift: 1, batch: 7, interval: .milliseconds(1))
            let expected = (0..<5).flatMap { _ in simulator.nextMessages() }.map { String(decoding: $0, as: UTF8.self) }
            #expect(expected.count == 25)
            #expect(Array(listener.messages.prefix(25)) == expected)
            #expect(program.errors.isEmpty)
            #expect(program.output.count == 1)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `A signal ends the feed with status 0 and closes the connections`(signal: Int32) throws {
        try withFeed([]) { program, address in
            let listener = try FeedListener(address)
            #expect(listener.waitForMessages(1))
            program.kill(signal)
            #expect(program.waitForEnd() == 0)
            #expect(listener.waitForEnd())
            #expect(listener.end == .closed)
            #expect(program.errors.isEmpty)
        }
    }

    @Test func `A signal ends the feed while steps take longer than the interval`() throws {
        try withFeed(["--cities=5000", "--coverage=1", "--interval=1ms"]) { program, address in
            let listener = try FeedListener(address)
            #expect(listener.waitForMessages(10))
            program.kill(SIGTERM)
            #expect(program.waitForEnd() == 0)
        }
    }
}
