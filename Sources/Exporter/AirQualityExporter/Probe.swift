import AirQuality
import Bytes
import CommandLine
import FeedOptions
import JQ
import Synchronization
import System
import WebSocket

/// `probe`: prints what a feed sends, what is read from it and why the rest is not. Returns 0 after a reading.
func probe(_ flags: ParsedFlags) throws -> Int32 {
    let options: ProbeOptions = try flags.options()
    let address = try flags.feedAddress()
    try flags.check(options.configuration.checkFeed)
    let visit = try FeedVisit(address, options.configuration, timeout: options.timeout)
    var report = ProbeReport(settings: options.configuration)
    report.describe(visit, address: flags.operands[0])
    StandardStream.output.write(report.text)
    return report.readings.isEmpty ? 1 : 0
}

/// One connection to a feed, for up to three messages.
private struct FeedVisit: Sendable {
    static let maximumMessages = 3

    /// `nil` stands for a message that was too large.
    private(set) var messages: [[UInt8]?] = []
    private(set) var isConnected = false
    /// Why the connection failed or ended; `nil` until then.
    private(set) var problem: String?

    private init() {}

    /// Blocks until there are enough messages, the connection has ended or the time is up.
    init(_ address: WebSocketAddress, _ settings: Configuration, timeout: Duration) throws(SystemError) {
        let visit = Monitor(FeedVisit())
        var configuration = settings.feed.client(of: address, userAgent: BuildVersion.userAgent)
        configuration.connectTimeout = min(configuration.connectTimeout, timeout)
        // Both closures are called on the client's thread.
        let programs = Mutex(settings.feed.programs())
        configuration.greeting = { programs.withLock { $0.greeting(at: monotonicTime()).texts } }
        let client = WebSocketClient(
            configuration: configuration,
            onEvent: { event in
                switch event {
                case .connected: visit.change { $0.isConnected = true }
                case .disconnected(_, let detail, let serverWords, _):
                    let words = serverWords.map { ": \(quoted($0))" } ?? ""
                    visit.change { $0.problem = $0.problem ?? detail + words }
                case .connecting, .paused, .resumed: break
                }
            },
            onMessage: { kind, message in
                var bytes: [UInt8]? = message.array
                if case .tooLarge = kind { bytes = nil }
                visit.change { if $0.messages.count < Self.maximumMessages { $0.messages.append(bytes) } }
                guard bytes != nil else { return MessageOutcome() }
                return MessageOutcome(
                    replies: programs.withLock { $0.replies(to: message, at: monotonicTime()).texts })
            })
        let thread = try ServiceThread(name: "feed", body: client.run)
        // A little longer, so that an attempt that takes too long is reported.
        let result = visit.wait(until: monotonicTime() + timeout + .milliseconds(100)) { visit in
            visit.messages.count == Self.maximumMessages || visit.problem != nil ? visit : nil
        }
        self = result ?? visit.read(\.self)
        client.stop()
        thread.join()
    }
}

/// The text that `probe` prints.
private struct ProbeReport {
    let settings: Configuration
    private(set) var text = ""
    private(set) var readings: [(city: String, index: Double)] = []

    mutating func describe(_ visit: FeedVisit, address: String) {
        add(visit.isConnected ? "connected to \(masked(address: address))" : "not connected")
        if let problem = visit.problem { add("\(visit.isConnected ? "disconnected" : "reason"): \(problem)") }
        if visit.isConnected, visit.messages.isEmpty, visit.problem == nil { add("no message arrived in time") }
        for (number, message) in visit.messages.enumerated() { describe(message, number: number + 1) }
        if !readings.isEmpty { addTable(of: readings) }
    }

    /// Adds a message, with the reasons why it, or a part of it, gives no reading.
    private mutating func describe(_ message: [UInt8]?, number: Int) {
        guard let message else { return add("\nmessage \(number): too large, see --feed.max-message-bytes") }
        add("\nmessage \(number), \(message.count) bytes: \(shown(message.span))")
        var reader = MessageReader(settings)
        let decoded = reader.read(message.span, receivedAt: currentTime())
        for reason in decoded.rejections.reasons {
            var excerpt = decoded.rejected[reason] ?? MessageExcerpt()
            if reason == .notJSON { excerpt.problem = jsonMistake(in: message.span) }
            add("  rejected: \(decoded.rejections[reason]) × \(reason.rawValue) \(excerpt.fields.text)")
        }
        if decoded.isWithoutReadings { add("  without readings \(decoded.excerpt?.memberFields.text ?? "")") }
        readings += decoded.accepted
    }

    private mutating func add(_ line: String) { text += line + "\n" }

    private mutating func addTable(of readings: [(city: String, index: Double)]) {
        let width = min(40, max(4, readings.map(\.city.count).max() ?? 0))
        func row(_ city: String, _ index: String) -> String {
            "  " + city + String(repeating: " ", count: max(0, width - city.count)) + "  " + index
        }
        add("\n" + row("city", "aqi"))
        for reading in readings.prefix(50) { add(row(onOneLine(reading.city), "\(reading.index)")) }
        if readings.count > 50 { add("  … and \(readings.count - 50) more") }
    }
}
