import AirQuality
import Bytes
import CommandLine
import FeedOptions
import HTTPText
import Synchronization
import System
import WebSocket

/// One feed: its connection, on a thread of its own, and the handling of its events and messages.
final class FeedReceiver: Sendable {
    let feed: ConfiguredFeed
    /// The feed's place in the store.
    let number: Int
    private let client: WebSocketClient
    /// Nil before ``start()``.
    private let thread = Mutex<ServiceThread?>(nil)

    /// Headers from the feed's file are read at each connect.
    init(_ feed: ConfiguredFeed, store: ReadingStore, logger: Logger) {
        self.feed = feed
        let label = feed.label
        let number = store.setFeed(label: label, idleTimeout: feed.idleTimeout)
        self.number = number
        // The decoder is only used on the feed's thread, so nobody ever waits for this lock.
        let decoder = Mutex(FeedDecoder(format: feed.settings.format))
        let log = Mutex(FeedLog(label: label))
        client = WebSocketClient(
            configuration: WebSocketClientConfiguration(
                address: feed.address, options: feed.settings.feed, flag: Configuration.feedFlag),
            onEvent: { event in
                let event = FeedEvent(event)
                if case .connected = event { decoder.withLock { $0.beginConnection() } }
                if let entry = log.withLock({ $0.entry(for: event, at: monotonicTime()) }) {
                    logger.log(level: entry.level, entry.message, metadata: entry.metadata)
                }
                store.apply(event, feed: number)
            },
            onMessage: { kind, message in
                let now = currentTime()
                let decoded: FeedMessage
                switch kind {
                case .text, .binary:
                    decoded = decoder.withLock { $0.decode(message, receivedAt: now) }
                    let unknownPollutants = decoder.withLock { $0.takeUnknownPollutants() }
                    for name in unknownPollutants {
                        logger.warning(
                            "Unknown pollutant skipped", metadata: ["pollutant": "\(name)", "feed": "\(label)"])
                    }
                case .tooLarge(let count):
                    decoded = FeedMessage(rejectedAs: .tooLarge, byteCount: count, receivedAt: now)
                }
                let outcome = store.record(decoded, feed: number)
                if outcome.duplicates > 0 {
                    for name in store.takeDuplicateNames() {
                        logger.warning(
                            "City came twice, in one message or from two feeds: the last reading counts",
                            metadata: ["city": "\(name)", "feed": "\(label)"])
                    }
                }
                guard !outcome.rejections.isEmpty else { return }
                if outcome.rejections[.cityLimit] > 0 {
                    for name in store.takeRejectedNames() {
                        logger.warning(
                            "City rejected: \(Configuration.flag(\.cityLimit)) is reached",
                            metadata: ["city": "\(name)", "limit": "\(store.rules.cityLimit)"])
                    }
                }
                for reason in log.withLock({ $0.due(outcome.rejections, at: monotonicTime()) }) {
                    guard let feed = store.feeds.first(where: { $0.label == label }) else { continue }
                    let metadata: Logger.Metadata = ["feed": label]
                    logger.warning(
                        "Readings rejected", metadata: metadata.merging(Logger.Metadata(reason, of: feed.connection)))
                }
            })
    }

    /// Connects and reconnects until ``stop()``.
    func start() throws(SystemError) {
        let thread = try ServiceThread(name: "feed", body: client.run)
        self.thread.withLock { $0 = thread }
    }

    func stop() { client.stop() }
    /// Waits until it has stopped.
    func join() { thread.withLock { $0.take() }?.join() }
    func reconnect() { client.reconnect() }
    func pause() { client.pause() }
    func resume() { client.resume() }

    /// Whether the feed's loop has not turned for much longer than it ever sleeps.
    var isStuck: Bool { monotonicTime() - client.lastTick > WebSocketClient.maximumSleep * 3 }
}

extension FeedEvent {
    /// The part of a connection's event that the store needs.
    init(_ event: WebSocketEvent) {
        self =
            switch event {
            case .connecting: .connecting
            case .connected(let fields): .connected(FeedSource(fields))
            case .disconnected(let reason, let detail, _): .disconnected(reason, detail: detail)
            case .paused: .paused
            case .resumed: .resumed
            }
    }
}

/// As the handshake's response says it: `Air-Quality-Source: open-meteo; kind=model; license="CC BY 4.0"`.
extension FeedSource {
    /// Of each value; a longer one counts as not there.
    static let maximumBytes = 128

    /// Nil when the response names no source. Of several fields the first counts.
    init?(_ fields: HTTPFields) {
        guard let text = fields.first(Self.fieldName) else { return nil }
        let parts = Self.parts(text)
        guard Self.isAccepted(parts[0]), !parts[0].isEmpty else { return nil }
        self.init(name: parts[0])
        for part in parts.dropFirst() {
            guard let equals = part.firstIndex(of: "=") else { continue }
            let value = String(part[part.index(after: equals)...])
            guard Self.isAccepted(value) else { continue }
            switch part[..<equals].lowercased() {
            case "kind" where value == "model" || value == "stations": kind = value
            case "license": license = value
            default: break
            }
        }
    }

    private static func isAccepted(_ value: String) -> Bool {
        value.utf8.count <= maximumBytes && !value.unicodeScalars.contains(where: breaksLine)
    }

    /// The texts between the semicolons outside of quotation marks, without the blanks around it and without the
    /// quotation marks (RFC 9110, section 5.6.6).
    private static func parts(_ text: String) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if !isEscaped, scalar == "\"" {
                isQuoted.toggle()
            } else if !isEscaped, isQuoted, scalar == "\\" {
                isEscaped = true
            } else if !isQuoted, scalar == ";" {
                parts.append("")
            } else {
                isEscaped = false
                parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        return parts.map { String(trimmed(Substring($0))) }
    }
}

extension Configuration {
    /// The member with that option of the connection to a feed.
    static func member(_ option: PartialKeyPath<FeedClientOptions>) -> PartialKeyPath<Self> {
        (\Self.feed as PartialKeyPath<Self>).appending(path: option)!
    }

    /// The flag of an option of the connection to a feed.
    static let feedFlag: FeedClientOptions.FlagName = { flag(member($0)) }
}

extension FeedClientOptions {
    /// Looks whether the next connection can be made with the files as they are now.
    ///
    /// - Returns: nil, or what is wrong in one line, which is logged as well.
    func reload(logger: Logger) -> String? {
        do throws(FeedOptionError) {
            try checkFiles()
            return nil
        } catch {
            let line = error.line(Configuration.feedFlag)
            logger.error("Cannot connect to feeds: unusable file", metadata: ["err": line])
            return line
        }
    }
}
