import Bytes
import FeedProtocol
import FeedSimulation
import Synchronization
import System
import WebSocket

/// Writes received messages, and logs the state of the connection, on the client's thread.
final class Recorder: Sendable {
    private enum Subject { case connection, length, encoding }

    private struct State {
        var failure: SystemError?
        var lastLines: [Subject: String] = [:]
    }

    private let feed: String
    private let file: AppendedFile
    private let log: Logger
    private let signals: Signals
    private let state = Mutex(State())

    /// - Parameter path: `nil` for standard output.
    init(of feed: String, to path: String?, log: Logger, signals: Signals) throws(SystemError) {
        self.feed = feed
        self.log = log
        self.signals = signals
        file = try AppendedFile(path)
    }

    var failure: SystemError? { state.withLock(\.failure) }

    func receive(_ event: WebSocketEvent) {
        switch event {
        case .connected: say("recording \(feed)", about: .connection, level: .info)
        case .disconnected(let reason, let detail, let serverWords, _) where reason != .requested:
            let words = serverWords.map { ": \(quoted($0))" } ?? ""
            say("\(feed): \(reason.rawValue): \(detail)\(words); reconnecting", about: .connection)
        default: return
        }
    }

    func receive(_ kind: WebSocketMessageKind, _ message: Span<UInt8>) {
        let receivedAt = currentTime()
        if case .tooLarge = kind { return say("leaving out messages that are too long", about: .length) }
        var line: [UInt8] = []
        line.reserveCapacity(message.count + message.count / 4 + 64)
        guard appendRecordedLine(receivedAt: receivedAt, message: message, to: &line) else {
            return say("leaving out messages that are not UTF-8", about: .encoding)
        }
        guard failure == nil else { return }
        do throws(SystemError) {
            try file.append(line)
        } catch {
            state.withLock { $0.failure = error }
            signals.wake()
        }
    }

    /// Logs a line unless it repeats the last one about its subject.
    private func say(_ line: String, about subject: Subject, level: Logger.Level = .warning) {
        let last = state.withLock { $0.lastLines.updateValue(line, forKey: subject) }
        if last != line { log.log(level: level, line) }
    }
}
