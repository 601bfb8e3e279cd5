import AirQuality
import Bytes
import JQ
import System
import WebSocket

/// A handler of one feed's events and messages, on its thread only. Decodes messages, records readings and logs.
struct FeedHandler: ~Copyable {
    private let label: String
    private let feedIndex: Int
    private let store: ReadingStore
    private let logger: Logger
    private var reader: MessageReader
    private var log: FeedLog
    private var rejectionLog = RejectionLog()
    private var duplicateLog = DuplicateLog()
    private var replyLog = HourlyLog<FeedReplies.Problem>(maximumSubjects: 10)
    private var isFirstMessage = true
    private var hasWarnedOfTimes = false
    private var hasWarnedOfUnreadableTimes = false
    /// The words of the server in the last message, if that had no readings.
    private var lastWords: String?

    /// - Parameter feedIndex: the feed's index in the store.
    init(_ feed: ConfiguredFeed, feedIndex: Int, store: ReadingStore, logger: Logger) {
        label = feed.label
        self.feedIndex = feedIndex
        self.store = store
        self.logger = logger
        reader = MessageReader(feed.settings)
        log = FeedLog(label: feed.label, logger: logger)
    }

    mutating func handle(_ event: WebSocketEvent) {
        switch event {
        case .connecting: lastWords = nil
        case .connected: isFirstMessage = true
        case .disconnected(_, _, let serverWords, _): lastWords = serverWords ?? lastWords
        default: break
        }
        log.note(event, serverWords: lastWords, at: monotonicTime())
        store.apply(FeedEvent(event), feed: feedIndex)
    }

    /// Returns what to send when a connection begins; `now` is monotonic.
    mutating func greeting(at now: Duration = monotonicTime()) -> [[UInt8]] {
        sendable(reader.programs.greeting(at: now), at: now)
    }

    /// Logs why nothing is sent, if so, and returns the texts.
    private mutating func sendable(_ replies: FeedReplies, at now: Duration) -> [[UInt8]] {
        if let problem = replies.problem, replyLog.note(problem, at: now) {
            logger.warning(
                "Nothing is sent in response to a message",
                metadata: ["feed": label, "flag": "--feed.reply", "err": "\(problem)"])
        }
        return replies.texts
    }

    /// Handles a whole message, text or binary; `now` is monotonic.
    @discardableResult
    mutating func receive(
        _ kind: WebSocketMessageKind, _ message: Span<UInt8>, at now: Duration = monotonicTime()
    ) -> MessageOutcome {
        var decoded: FeedMessage
        var replies: [[UInt8]] = []
        if case .tooLarge(let byteCount) = kind {
            decoded = FeedMessage(rejectedAs: .tooLarge, byteCount: byteCount, receivedAt: currentTime())
        } else {
            if isFirstMessage {
                isFirstMessage = false
                logger.debug("First message", metadata: ["feed": label, "message": shown(message)])
            }
            let receivedAt = currentTime()
            replies = sendable(reader.programs.replies(to: message, at: now), at: now)
            decoded = reader.read(message, receivedAt: receivedAt)
        }
        if decoded.rejections[.notJSON] > 0, rejectionLog.isDue(.rejected(.notJSON), at: now) {
            decoded.explain(.notJSON, problem: jsonMistake(in: message))
        }
        let recorded = store.record(decoded, feed: feedIndex)
        log.noteMessage(at: now)
        warnOfNames(recorded, at: now)
        if recorded.hasTimesWithoutZone, !hasWarnedOfTimes {
            hasWarnedOfTimes = true
            logger.warning(
                "Feed times have no zone: using the time of arrival",
                metadata: ["feed": label, "hint": "--feed.time-zone with the offset of the feed, such as +05:30"])
        }
        if recorded.hasUnreadableTimes, !hasWarnedOfUnreadableTimes {
            hasWarnedOfUnreadableTimes = true
            logger.warning(
                "Feed times cannot be read: using the time of arrival",
                metadata: ["feed": label, "hint": "--feed.time-field with the field of the time, or '' for none"])
        }
        logRejections(of: recorded, at: now)
        if !recorded.hasAcceptedReadings { lastWords = lastWords ?? plainText(message) }
        let outcome = MessageOutcome(replies: replies, isUseful: recorded.hasAcceptedReadings)
        reader.decoder.recycle(recorded)
        return outcome
    }

    private mutating func logRejections(of message: borrowing FeedMessage, at now: Duration) {
        for (reason, lasted, count) in rejectionLog.takeStopped(at: now) {
            logger.info(
                "Rejections stopped",
                metadata: [
                    "feed": label, "reason": reason.rawValue, "lasted": lasted.wholeSeconds, "rejected": "\(count)",
                ])
        }
        lastWords = message.excerpt?.serverWords
        guard message.excerpt != nil || !message.rejections.isEmpty else { return }
        if let lastWords, rejectionLog.note(words: lastWords, at: now) {
            logger.info("Message of the feed's server", metadata: ["feed": label, "server_message": lastWords])
        }
        for reason in message.rejections.reasons
        where rejectionLog.note(.rejected(reason), count: message.rejections[reason], at: now) {
            logger.warning("Readings rejected", metadata: details(of: .rejected(reason), message.rejected[reason]))
        }
        if message.isWithoutReadings, rejectionLog.note(.withoutReadings, at: now) {
            logger.info("Message without readings", metadata: details(of: .withoutReadings, message.excerpt))
        }
        guard let connection = store.feed(feedIndex)?.connection, rejectionLog.noteMostlyUnread(connection) else {
            return
        }
        logger.warning(
            "Most messages of the feed carry nothing that is read",
            metadata: [
                "feed": label, "messages": "\(connection.messages)", "read": "\(connection.messagesWithReadings)",
                "hint": RejectionReason.probeHint,
            ])
    }

    /// Log fields about what gave no reading, with an example of the kind that has come most.
    private func details(of noReading: NoReading, _ excerpt: MessageExcerpt?) -> Logger.Metadata {
        let connection = store.feed(feedIndex)?.connection
        let example = connection?.example(of: noReading) ?? excerpt
        switch noReading {
        case .withoutReadings: return ["feed": label] + (example?.memberFields ?? [:])
        case .rejected(let reason):
            let counts: Logger.Metadata = [
                "feed": label, "reason": reason.rawValue, "rejected": "\(connection?.rejections[reason] ?? 0)",
                "accepted": "\(connection?.readings ?? 0)",
            ]
            return counts + (example?.fields ?? [:]) + ["hint": reason.hint(for: example)]
        }
    }

    private mutating func warnOfNames(_ recorded: borrowing FeedMessage, at now: Duration) {
        let pollutants = reader.decoder.takeUnknownPollutants()
        if !pollutants.isEmpty {
            let known = PollutantValues.pollutants.joined(separator: ",")
            logger.warning(
                "Unknown pollutants skipped",
                metadata: ["pollutants": pollutants.joined(separator: ", "), "known": known, "feed": label])
        }
        if let (names, count) = duplicateLog.note(recorded, at: now) {
            let details: Logger.Metadata = [
                "city": names.joined(separator: ", "), "cities": "\(count)", "feed": label,
            ]
            let hint: Logger.Metadata =
                reader.programs.hasElements
                ? ["hint": #"in --feed.jq, .city = "Mumbai" assigns and == compares"#] : [:]
            logger.warning(
                "Duplicate city in one message or from two feeds: using the last reading", metadata: details + hint)
        }
        if !recorded.namesBeyondLimit.isEmpty {
            logger.warning(
                "City rejected: --city.limit is reached",
                metadata: [
                    "city": recorded.namesBeyondLimit.joined(separator: ", "), "limit": "\(store.rules.cityLimit)",
                ])
        }
    }
}

/// Returns the first bytes of a message that is no JSON, on one line; `nil` if it may be JSON, or is blank or not text.
private func plainText(_ message: Span<UInt8>) -> String? {
    let first = message.extracting(first: 200).array
    guard let text = String(validating: first, as: UTF8.self), let begin = first.first(where: { !isJSONBlank($0) }),
        !"{[\"".utf8.contains(begin), !first.allSatisfy({ isDigit($0) || isJSONBlank($0) })
    else { return nil }
    return onOneLine(text)
}

/// Returns the first bytes of a message on one line.
func shown(_ message: Span<UInt8>, bytes: Int = 512) -> String {
    let first = message.extracting(first: bytes).array
    return onOneLine(String(decoding: first, as: UTF8.self)) + (message.count > bytes ? "…" : "")
}

extension Span<UInt8> {
    var array: [UInt8] { indices.map { self[$0] } }
}
