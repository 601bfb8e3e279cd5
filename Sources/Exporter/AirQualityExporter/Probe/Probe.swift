import AirQuality
import CommandLine
import FeedOptions
import System

/// `probe`: prints what a feed sends, what the given flags read from it, why the rest is not read and, where most is
/// not, what would read it. Returns 0 if the given flags read something.
func probe(_ flags: ParsedFlags) throws -> Int32 {
    let options: ProbeOptions = try flags.options()
    let address = try flags.feedAddress()
    try flags.check(options.configuration.feed.check)
    let visit = try FeedVisit(address, options.configuration, timeout: options.timeout)
    var report = ProbeReport(settings: options.configuration)
    report.describe(visit, address: flags.operands[0])
    let read = visit.connection.messagesWithReadings
    if visit.connection.messages > 0, read * 2 <= visit.connection.messages,
        let suggestion = Suggestion(for: visit.kept)
    {
        let given = flags.words(without: Suggestion.replacedFlags.union(["timeout"]))
        report.describe(
            suggestion, for: visit, command: ["air-quality-exporter", "--feed.url", flags.operands[0]] + given)
    }
    StandardStream.output.write(report.text)
    return read > 0 ? 0 : 1
}

/// Messages as they are read with some settings.
struct ProbeResult: ~Copyable {
    private let store: ReadingStore
    private var reader: MessageReader

    init(_ settings: Configuration) {
        store = ReadingStore(rules: settings.storeRules, feeds: [""], at: currentTime())
        reader = MessageReader(settings.feed)
        store.apply(.connected(nil), feed: 0)
    }

    /// Reads a message; `nil` stands for one that was too large. Returns the kind of what gives no reading.
    @discardableResult
    mutating func read(_ message: [UInt8]?) -> MessageExcerpt.Kind? {
        var decoded = FeedMessage(rejectedAs: .tooLarge, byteCount: 0, receivedAt: currentTime())
        if let message {
            decoded = reader.read(message.span, receivedAt: currentTime())
            if decoded.rejections[.notJSON] > 0 { decoded.explain(.notJSON, problem: jsonMistake(in: message.span)) }
        }
        let kind = decoded.excerpt?.kind
        reader.decoder.recycle(store.record(decoded, feed: 0))
        return kind
    }

    var connection: FeedStatistics.Connection { store.feeds[0].connection }
    var snapshot: StoreSnapshot { store.snapshot() }
}
