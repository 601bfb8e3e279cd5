import AirQuality
import Bytes
import FeedOptions
import JQ
import Synchronization
import System
import WebSocket

/// One connection to a feed: until three messages have given readings, it has ended, or the time is up.
struct FeedVisit {
    private static let sufficientCount = 3
    /// Messages that wait to be read or are kept, in number and in bytes; the rest is left out.
    private static let messageCount = 60
    private static let byteCount = 4 << 20

    private(set) var isConnected = false
    /// Why the connection failed or ended; `nil` if it has not.
    private(set) var problem: String?
    /// Messages with the same members: the beginning of the first one, its size, and how many came.
    private(set) var kinds: [(kind: MessageExcerpt.Kind?, example: String, byteCount: Int, count: Int)] = []
    private(set) var kept: [[UInt8]] = []
    /// Everything that the given flags read.
    private(set) var connection: FeedStatistics.Connection
    private(set) var snapshot: StoreSnapshot

    /// News of the client's thread for the calling one.
    private struct Mail: Sendable {
        var isConnected = false
        var problem: String?
        /// `nil` stands for a message that was too large.
        var messages: [[UInt8]?] = []
        var byteCount = 0
    }

    /// Blocks until the visit is over.
    init(_ address: WebSocketAddress, _ settings: Configuration, timeout: Duration) throws(SystemError) {
        let box = Monitor(Mail())
        var configuration = settings.feed.client.configuration(of: address, userAgent: BuildVersion.userAgent)
        configuration.connectTimeout = min(configuration.connectTimeout, timeout)
        // The closures are called on the client's thread.
        let programs = Mutex(settings.feed.client.programs())
        configuration.greeting = { programs.withLock { $0.greeting(at: monotonicTime()).texts } }
        let client = WebSocketClient(
            configuration: configuration,
            onEvent: { event in
                switch event {
                case .connected: box.change { $0.isConnected = true }
                case .disconnected(let reason, let detail, let serverWords, _) where reason != .requested:
                    let words = serverWords.map { ": \(quoted($0))" } ?? ""
                    box.change { $0.problem = $0.problem ?? detail + words }
                case .connecting, .disconnected, .paused, .resumed: break
                }
            },
            onMessage: { kind, message in
                var bytes: [UInt8]? = message.array
                if case .tooLarge = kind { bytes = nil }
                box.change { mail in
                    mail.byteCount += bytes?.count ?? 0
                    if mail.messages.count < Self.messageCount,
                        mail.byteCount <= Self.byteCount || mail.messages.isEmpty
                    {
                        mail.messages.append(bytes)
                    }
                }
                if bytes == nil { return MessageOutcome() }
                return MessageOutcome(replies: programs.withLock { $0.replies(to: message, at: monotonicTime()).texts })
            })
        let thread = try ServiceThread(name: "feed", body: client.run)
        var result = ProbeResult(settings)
        connection = result.connection
        snapshot = result.snapshot
        // A little longer, so that an attempt that takes too long is reported.
        let end = monotonicTime() + timeout + .milliseconds(100)
        var keptBytes = 0
        repeat {
            _ = box.wait(until: end) { $0.messages.isEmpty && $0.problem == nil ? nil : true }
            let mail = box.change { mail in
                defer { mail = Mail(isConnected: mail.isConnected, problem: mail.problem) }
                return mail
            }
            isConnected = mail.isConnected
            problem = mail.problem
            for message in mail.messages where result.connection.messagesWithReadings < Self.sufficientCount {
                let kind = result.read(message)
                guard let message else { continue }
                if let known = kinds.firstIndex(where: { $0.kind == kind }) {
                    kinds[known].count += 1
                } else if kinds.count < 12 {
                    kinds.append((kind, shown(message.span), message.count, 1))
                }
                keptBytes += message.count
                if kept.count < Self.messageCount, keptBytes <= Self.byteCount { kept.append(message) }
            }
        } while problem == nil && monotonicTime() < end
            && result.connection.messagesWithReadings < Self.sufficientCount
        connection = result.connection
        snapshot = result.snapshot
        client.stop()
        thread.join()
    }
}
