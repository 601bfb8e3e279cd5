import AirQuality
import Bytes
import CommandLine
import FeedOptions
import JQ
import System
import WebSocket

/// Handles the events and messages of one feed: decodes them, gives them to the store, and logs what people want to
/// know.
///
/// Used from the feed's thread alone.
final class FeedHandler {
    /// Bytes of a message that the log shows.
    static let shownBytes = 512

    private let feed: ConfiguredFeed
    private let number: Int
    private let store: ReadingStore
    private let logger: Logger
    private var decoder: FeedDecoder
    /// The program of `--feed.jq`, made with the first message; its process is not there before.
    private var program: JQProgram?
    private var log: FeedLog
    /// Explanations by reason, made anew at most hourly: a feed that reconnects all the time costs no more.
    private var explanations: [RejectionReason?: MessageExplanation] = [:]
    /// Reasons of which this connection has an explanation.
    private var explained: Set<RejectionReason?> = []
    private var isFirstMessage = true

    /// - Parameter number: the feed's place in the store.
    init(_ feed: ConfiguredFeed, number: Int, store: ReadingStore, logger: Logger) {
        self.feed = feed
        self.number = number
        self.store = store
        self.logger = logger
        decoder = FeedDecoder(format: feed.settings.format)
        log = FeedLog(label: feed.label)
    }

    /// Notes a change of the connection.
    func handle(_ event: WebSocketEvent) {
        let event = FeedEvent(event)
        if case .connected = event {
            explained = []
            isFirstMessage = true
        }
        if let entry = log.entry(for: event, at: monotonicTime()) {
            logger.log(level: entry.level, entry.message, metadata: entry.metadata)
        }
        store.apply(event, feed: number)
    }

    /// Takes in a whole message, text or binary.
    func receive(_ kind: WebSocketMessageKind, _ message: Span<UInt8>) {
        let now = currentTime()
        if case .tooLarge(let byteCount) = kind {
            record(FeedMessage(rejectedAs: .tooLarge, byteCount: byteCount, receivedAt: now), of: Span())
            return
        }
        if isFirstMessage {
            isFirstMessage = false
            logger.debug(
                "First message", metadata: ["feed": feed.label, "message": shown(message, bytes: Self.shownBytes)])
        }
        guard let text = feed.settings.program else {
            record(decoder.decode(message, receivedAt: now), of: message)
            return
        }
        var elements: [UInt8] = []
        var words: String?
        let decoded = decoder.decode(message, receivedAt: now) { message in
            do throws(JQError) {
                elements = try run(text, message)
                return elements
            } catch {
                words = error.reason
                return nil
            }
        }
        record(decoded, of: message, elements: elements, words: words)
    }

    private func run(_ text: String, _ message: Span<UInt8>) throws(JQError) -> [UInt8] {
        if program == nil {
            program = try JQProgram(text, limits: feed.settings.programLimits)
        }
        return try program?.run(message) ?? []
    }

    /// - Parameters:
    ///   - elements: the results of the program, if there is one.
    ///   - words: jq's complaint.
    private func record(
        _ decoded: FeedMessage, of message: Span<UInt8>, elements: [UInt8]? = nil, words: String? = nil
    ) {
        let outcome = store.record(decoded, feed: number)
        warnOfNames(outcome)
        var reasons: [RejectionReason?] = RejectionReason.allCases.filter { outcome.rejections[$0] > 0 }
        if decoded.isWithoutReadings { reasons.append(nil) }
        guard !reasons.isEmpty else { return }
        let now = monotonicTime()
        for reason in reasons {
            let isDue = log.isDue(reason, at: now)
            guard isDue || !explained.contains(reason) else { continue }
            explained.insert(reason)
            if isDue || explanations[reason] == nil {
                explanations[reason] = MessageExplanation(
                    reason, of: (0..<message.count).map { message[$0] }, elements: elements, decoded: decoded,
                    words: words, settings: feed.settings)
            }
            guard let explanation = explanations[reason] else { continue }
            store.apply(.explained(reason, explanation.fields), feed: number)
            if isDue { tell(reason) }
        }
    }

    private func tell(_ reason: RejectionReason?) {
        guard let connection = store.feeds.first(where: { $0.label == feed.label })?.connection else { return }
        let metadata = Logger.Metadata(dictionaryLiteral: ("feed", feed.label))
            .merging(Logger.Metadata(reason, of: connection))
        if reason == nil {
            logger.info("Message without readings", metadata: metadata)
        } else {
            logger.warning("Readings rejected", metadata: metadata)
        }
    }

    private func warnOfNames(_ outcome: RecordOutcome) {
        for name in decoder.takeUnknownPollutants() {
            logger.warning("Unknown pollutant skipped", metadata: ["pollutant": name, "feed": feed.label])
        }
        if decoder.takeTimesWithoutZone() {
            logger.warning(
                "Times without a zone: readings have the time of their arrival",
                metadata: ["feed": feed.label, "hint": "\(Configuration.flag(\.format.timeZone)) +05:30"])
        }
        if outcome.duplicates > 0 {
            for name in store.takeDuplicateNames() {
                logger.warning(
                    "City came twice, in one message or from two feeds: the last reading counts",
                    metadata: ["city": name, "feed": feed.label])
            }
        }
        if outcome.rejections[.cityLimit] > 0 {
            for name in store.takeRejectedNames() {
                logger.warning(
                    "City rejected: \(Configuration.flag(\.cityLimit)) is reached",
                    metadata: ["city": name, "limit": "\(store.rules.cityLimit)"])
            }
        }
    }
}

/// The first bytes of a message on one line.
func shown(_ message: Span<UInt8>, bytes: Int) -> String {
    let first = (0..<min(message.count, bytes)).map { message[$0] }
    return onOneLine(String(decoding: first, as: UTF8.self)) + (message.count > bytes ? "…" : "")
}
