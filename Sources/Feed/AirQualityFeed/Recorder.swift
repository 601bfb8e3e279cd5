import FeedProtocol
import FeedSimulation
import Synchronization
import System
import WebSocket

/// Writes what a client receives, and says how its connection is, on the client's thread.
final class Recorder: Sendable {
    private struct State {
        var failure: SystemError?
        /// The last line of the log about the connection.
        var connection = ""
        /// The lines about messages that are left out, each said once.
        var omissions: Set<String> = []
    }

    private let feed: String
    private let file: AppendedFile
    private let log: Logger
    private let signals: Signals
    private let state = Mutex(State())

    /// - Parameter path: `nil` = standard output.
    init(of feed: String, to path: String?, log: Logger, signals: Signals) throws {
        self.feed = feed
        self.log = log
        self.signals = signals
        file = try AppendedFile(path)
    }

    /// The reason why no more lines can be written.
    var failure: SystemError? { state.withLock(\.failure) }

    func receive(_ event: WebSocketEvent) {
        switch event {
        case .connected: say("recording \(feed)", .info)
        case .disconnected(let reason, let detail, _) where reason != .requested:
            say("\(feed): \(reason.rawValue): \(detail); dialling again", .warning)
        default: return
        }
    }

    /// Says how the connection is, each state once and not each attempt.
    private func say(_ line: String, _ level: Logger.Level) {
        let isNew = state.withLock { state in
            defer { state.connection = line }
            return state.connection != line
        }
        if isNew { log.log(level: level, line) }
    }

    private func sayOmission(_ line: String) {
        if state.withLock({ $0.omissions.insert(line).inserted }) { log.log(level: .warning, line) }
    }

    func receive(_ kind: WebSocketMessageKind, _ message: Span<UInt8>) {
        let receivedAt = currentTime()
        if case .tooLarge = kind { return sayOmission("leaving out messages that are too long") }
        var line: [UInt8] = []
        line.reserveCapacity(message.count + message.count / 4 + 64)
        guard appendRecordedLine(receivedAt: receivedAt, message: message, to: &line) else {
            return sayOmission("leaving out messages that are not UTF-8")
        }
        guard failure == nil else { return }
        do throws(SystemError) {
            try file.append(line)
        } catch {
            state.withLock { $0.failure = error }
            signals.wake()
        }
    }
}
