import CommandLine
import FeedSimulation
import Synchronization
import System
import WebSocket

/// Records a feed until a signal comes, or until the lines cannot be written.
func record(_ flags: ParsedFlags, signals: Signals) throws {
    let feed = try feedClient(of: flags, \RecordOptions.feed)
    let options: RecordOptions = try flags.options()
    beginLog(of: flags, level: options.logLevel, format: options.logFormat)
    let recorder = try Recorder(to: options.output, signals: signals)
    let client = WebSocketClient(
        configuration: feed, onEvent: ConnectionReport(of: feed.address.label, verb: "recording").receive,
        onMessage: recorder.receive)
    let thread = try ServiceThread(name: "client") { client.run() }
    while signals.wait(for: nil) == nil, recorder.failure == nil {}
    client.stop()
    thread.join()
    if let failure = recorder.failure { throw failure }
}

/// Writes what the client receives, on the client's thread.
private final class Recorder: Sendable {
    private let file: AppendedFile
    private let signals: Signals
    private let state = Mutex<SystemError?>(nil)
    private let omissions = Mutex(LineLimit(.seconds(60)))

    /// - Parameter path: `nil` = standard output.
    init(to path: String?, signals: Signals) throws {
        file = try AppendedFile(path)
        self.signals = signals
    }

    /// The reason why no more lines can be written.
    var failure: SystemError? { state.withLock(\.self) }

    func receive(_ kind: WebSocketMessageKind, _ message: Span<UInt8>) {
        let receivedAt = currentTime()
        var line: [UInt8] = []
        line.reserveCapacity(message.count + message.count / 4 + 64)
        switch kind {
        case .text where appendRecordedLine(receivedAt: receivedAt, message: message, to: &line): write(line)
        case .text: omit("a message that is not UTF-8")
        case .binary: omit("a binary message of \(message.count) bytes")
        case .tooLarge(let bytes): omit("a message of \(bytes) bytes")
        }
    }

    private func omit(_ message: String) {
        guard let others = omissions.withLock({ $0.suppressed(before: monotonicTime()) }) else { return }
        log("left out \(message)" + (others > 0 ? " and \(others) more before it" : ""), level: .warning)
    }

    private func write(_ line: [UInt8]) {
        guard failure == nil else { return }
        do throws(SystemError) {
            try file.append(line)
        } catch {
            state.withLock { $0 = error }
            signals.wake()
        }
    }
}
