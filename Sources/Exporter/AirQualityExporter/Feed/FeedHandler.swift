import AirQuality
import Bytes
import FeedOptions
import HTTPText
import System
import WebSocket

/// A handler of one feed's events and messages, on its thread only. Decodes messages, records readings and logs.
struct FeedHandler: ~Copyable {
    private let label: String
    private let address: WebSocketAddress
    private let number: Int
    private let store: ReadingStore
    private let logger: Logger
    private var reader: MessageReader
    private var log: FeedLog
    /// The explanations logged within the last hour.
    private var explanations: [Topic: (fields: [ExplanationField], loggedAt: Duration)] = [:]
    /// How much the store's explanations of this connection say: a server's words 2, a hint 1.
    private var told: [RejectionReason?: Int] = [:]
    private var isFirstMessage = true
    private var hasToldOfTimes = false
    /// Texts sent on this connection, masked where the server repeats them.
    private var secrets = SentSecrets()

    /// The subject of an explanation: a reason, and what differs between messages rejected for it.
    private struct Topic: Hashable {
        let reason: RejectionReason?
        /// A server's own words, which may alternate.
        let words: String?
        /// Field names and type: a greeting must not hide what is wrong with the data.
        let shape: [String]
    }

    /// - Parameter number: the feed's index in the store.
    init(_ feed: ConfiguredFeed, number: Int, store: ReadingStore, logger: Logger) {
        label = feed.label
        address = feed.address
        self.number = number
        self.store = store
        self.logger = logger
        reader = MessageReader(feed.settings)
        log = FeedLog(label: feed.label, logger: logger)
    }

    mutating func handle(_ event: WebSocketEvent) {
        var event = FeedEvent(event)
        switch event {
        case .connecting: secrets = reader.settings.feed.sentSecrets(to: address)
        case .connected:
            told = [:]
            isFirstMessage = true
        case .disconnected(let reason, let detail): event = .disconnected(reason, detail: secrets.masked(in: detail))
        default: break
        }
        log.note(event, at: monotonicTime())
        store.apply(event, feed: number)
    }

    /// Handles a whole message, text or binary; `now` is monotonic.
    mutating func receive(_ kind: WebSocketMessageKind, _ message: Span<UInt8>, at now: Duration = monotonicTime()) {
        let decoded: FeedMessage
        if case .tooLarge(let byteCount) = kind {
            decoded = FeedMessage(rejectedAs: .tooLarge, byteCount: byteCount, receivedAt: currentTime())
        } else {
            if isFirstMessage {
                isFirstMessage = false
                logger.debug("First message", metadata: ["feed": label, "message": secrets.masked(in: shown(message))])
            }
            decoded = reader.read(message, receivedAt: currentTime())
        }
        let recorded = store.record(decoded, feed: number)
        warnOfNames(recorded)
        if recorded.hasTimesWithoutZone, !hasToldOfTimes {
            hasToldOfTimes = true
            logger.warning(
                "Feed times have no zone: using the time of arrival",
                metadata: ["feed": label, "hint": "--feed.time-zone with the offset of the feed, such as +05:30"])
        }
        for reason in recorded.rejections.reasons { explain(reason, message, recorded, at: now) }
        if recorded.isWithoutReadings { explain(nil, message, recorded, at: now) }
        reader.decoder.recycle(recorded)
    }

    /// Tells the store why messages give no readings. Logs each topic hourly at most, and up to ``FeedLog/burst`` of
    /// each reason or with a server's words.
    private mutating func explain(
        _ reason: RejectionReason?, _ message: Span<UInt8>, _ recorded: borrowing FeedMessage, at now: Duration
    ) {
        let isUnread = recorded.accepted.isEmpty
        let words = isUnread ? MessageExplanation.serverWords(in: message) : nil
        let shape = isUnread ? MessageExplanation.shape(of: message) : []
        let topic = Topic(reason: reason, words: words, shape: shape)
        if let known = explanations[topic], now - known.loggedAt < FeedLog.reminder {
            return tellStore(topic, known.fields)
        }
        explanations = explanations.filter { now - $0.value.loggedAt < FeedLog.reminder }
        let others = explanations.keys.filter { other in
            words == nil ? other.words == nil && other.reason == reason : other.words != nil
        }
        guard others.count < FeedLog.burst else { return }
        var explanation = MessageExplanation(reason, of: message.array, recorded, settings: reader.settings)
        explanation.mask(secrets)
        explanations[topic] = (explanation.fields, now)
        tellStore(topic, explanation.fields)
        log(reason, explanation)
    }

    private mutating func tellStore(_ topic: Topic, _ fields: [ExplanationField]) {
        // A later message does not replace one that says more, such as a heartbeat a hint.
        let weight = topic.words != nil ? 2 : fields.contains { $0.name == "hint" } ? 1 : 0
        guard weight >= told[topic.reason, default: 0] else { return }
        told[topic.reason] = weight
        store.apply(.explained(topic.reason, fields), feed: number)
    }

    private func log(_ reason: RejectionReason?, _ explanation: MessageExplanation) {
        guard let feed = store.feeds.first(where: { $0.label == label }) else { return }
        var metadata = ["feed": label] + feed.details(of: reason, explanation.fields)
        if let hint = explanation.fields.first(where: { $0.name == "hint" })?.text {
            // The log escapes quotation marks and backslashes; a shell undoes that between $' and '.
            let isEscaped = hint.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
            metadata = metadata + ["hint": isEscaped ? hint.replacingScalars(" '", with: " $'") : hint]
        }
        guard let reason else { return logger.info("Message without readings", metadata: metadata) }
        logger.warning("Readings rejected", metadata: metadata)
        guard let element = explanation.element else { return }
        let shownElement = secrets.masked(in: shown(element.utf8Span.span))
        logger.debug(
            "First rejected element",
            metadata: ["feed": label, "reason": reason.rawValue, "element": shownElement])
    }

    private mutating func warnOfNames(_ recorded: borrowing FeedMessage) {
        for name in reader.decoder.takeUnknownPollutants() {
            logger.warning("Unknown pollutant skipped", metadata: ["pollutant": name, "feed": label])
        }
        for name in recorded.duplicateNames {
            logger.warning(
                "Duplicate city in one message or from two feeds: using the last reading",
                metadata: ["city": name, "feed": label])
        }
        for name in recorded.namesBeyondLimit {
            logger.warning(
                "City rejected: --city.limit is reached",
                metadata: ["city": name, "limit": "\(store.rules.cityLimit)"])
        }
    }
}

/// Returns the first bytes of a message on one line.
func shown(_ message: Span<UInt8>, bytes: Int = 512) -> String {
    let first = message.extracting(first: bytes).array
    return onOneLine(String(decoding: first, as: UTF8.self)) + (message.count > bytes ? "…" : "")
}

extension Span<UInt8> {
    var array: [UInt8] { indices.map { self[$0] } }
}
