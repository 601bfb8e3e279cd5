import Bytes
import FeedOptions
import FeedSimulation
import JQ
import Synchronization
import System
import WebSocket

/// Writes received messages, and logs the state of the connection, on the client's thread.
final class Recorder: Sendable {
    private enum Subject { case connection, length, encoding, replies }

    private struct State {
        var failure: SystemError?
        var lastLines: [Subject: String] = [:]
    }

    private let feed: String
    private let file: AppendedFile
    private let log: Logger
    private let signals: Signals
    private let state = Mutex(State())
    private let programs: Mutex<FeedPrograms>

    /// - Parameters:
    ///   - path: `nil` for standard output.
    ///   - options: those of the connection.
    init(
        of feed: String, to path: String?, options: FeedClientOptions, log: Logger, signals: Signals
    ) throws(SystemError) {
        self.feed = feed
        self.log = log
        self.signals = signals
        programs = Mutex(options.programs())
        // Texts that are sent may be secret.
        file = try AppendedFile(path, isPrivate: options.reply != nil || !options.connection.subscriptions.isEmpty)
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

    /// Returns what to send when a connection begins.
    func greeting() -> [[UInt8]] { sendable(programs.withLock { $0.greeting(at: monotonicTime()) }) }

    func receive(_ kind: WebSocketMessageKind, _ message: Span<UInt8>) -> MessageOutcome {
        let receivedAt = currentTime()
        if case .tooLarge = kind {
            say("leaving out messages that are too long", about: .length)
            return MessageOutcome()
        }
        write(message, as: .received, at: receivedAt)
        let replies = programs.withLock { $0.replies(to: message, at: monotonicTime()) }
        return MessageOutcome(replies: sendable(replies), isUseful: true)
    }

    private func sendable(_ replies: FeedReplies) -> [[UInt8]] {
        if let problem = replies.problem { say("--reply: \(problem)", about: .replies) }
        return replies.texts
    }

    /// Writes a text that is sent.
    func note(sent text: [UInt8]) { write(text.span, as: .sent, at: currentTime()) }

    private func write(_ message: Span<UInt8>, as direction: RecordedDirection, at time: Int64) {
        var line: [UInt8] = []
        line.reserveCapacity(message.count + message.count / 4 + 64)
        guard appendRecordedLine(direction, at: time, message: message, to: &line) else {
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
