import Bytes
import CommandLine
import FeedSimulation
import Synchronization
import System
import WebSocket

/// Records a feed until a signal comes, or until the lines cannot be written.
func record(_ flags: ParsedFlags, signals: Signals) throws {
    let address: WebSocketAddress
    do throws(WebSocketAddressError) {
        address = try WebSocketAddress(flags.operands[0])
    } catch {
        let shown = quoted(masked(address: flags.operands[0]))
        throw FlagError("URL \(shown): \(error), expected ws://host:port/path or wss://host:port/path")
    }
    let recorder = try Recorder(
        of: address.label, to: flags.options(RecordOptions.self).output, signals: signals)
    let client = WebSocketClient(
        configuration: WebSocketClientConfiguration(address: address), onEvent: recorder.receive,
        onMessage: recorder.receive)
    let thread = try ServiceThread(name: "client") { client.run() }
    while signals.wait(for: nil) == nil, recorder.failure == nil {}
    client.stop()
    thread.join()
    if let failure = recorder.failure { throw failure }
}

/// Writes what the client receives and reports changes of its connection, on the client's thread.
private final class Recorder: Sendable {
    private struct State {
        var failure: SystemError?
        /// The newest line about the connection: a state is reported once, not at each attempt.
        var lastSaid = ""
    }

    private let file: AppendedFile
    private let feed: String
    private let signals: Signals
    private let state = Mutex(State())

    /// - Parameter path: nil = standard output.
    init(of feed: String, to path: String?, signals: Signals) throws {
        file = if let path { try AppendedFile(path) } else { try AppendedFile.standardOutput() }
        self.feed = feed
        self.signals = signals
    }

    /// Why no more lines can be written.
    var failure: SystemError? { state.withLock { $0.failure } }

    func receive(_ event: WebSocketEvent) {
        let line: String
        switch event {
        case .connecting, .paused, .resumed, .disconnected(.requested, _, _): return
        case .connected: line = "recording \(feed)"
        case .disconnected(let reason, let detail, _): line = "\(feed): \(reason.rawValue): \(detail); dialling again"
        }
        let isNew = state.withLock { state in
            defer { state.lastSaid = line }
            return line != state.lastSaid
        }
        if isNew { say(line) }
    }

    func receive(_ kind: WebSocketMessageKind, _ message: Span<UInt8>) {
        let receivedAt = currentTime()
        var line: [UInt8] = []
        line.reserveCapacity(message.count + message.count / 4 + 64)
        switch kind {
        case .text where appendRecordedLine(receivedAt: receivedAt, message: message, to: &line): write(line)
        case .text: say("left out a message that is not UTF-8")
        case .binary: say("left out a binary message of \(message.count) bytes")
        case .tooLarge(let bytes): say("left out a message of \(bytes) bytes")
        }
    }

    private func write(_ line: [UInt8]) {
        guard failure == nil else { return }
        do throws(SystemError) {
            try file.append(line)
        } catch {
            state.withLock { $0.failure = error }
            signals.wake()
        }
    }
}
