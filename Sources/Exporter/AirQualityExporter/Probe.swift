import AirQuality
import Bytes
import CommandLine
import FeedOptions
import System
import WebSocket

/// `probe`: prints what a feed sends, what is read from it and what would read the rest. Returns 0 after a reading.
func probe(_ flags: ParsedFlags) throws -> Int32 {
    let options: ProbeOptions = try flags.options()
    let address = try flags.feedAddress()
    try flags.check(options.configuration.checkFeed)
    let visit = try FeedVisit(address, options.configuration, timeout: options.timeout)
    var report = ProbeReport(settings: options.configuration)
    let others: Set = ["feed.items", "feed.city-field", "feed.value-field", "feed.jq", "timeout"]
    report.describe(visit, address: flags.operands[0], given: flags.words(without: others))
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
        let client = WebSocketClient(
            configuration: configuration,
            onEvent: { event in
                switch event {
                case .connected: visit.change { $0.isConnected = true }
                case .disconnected(_, let detail, _): visit.change { $0.problem = $0.problem ?? detail }
                case .connecting, .paused, .resumed: break
                }
            },
            onMessage: { kind, message in
                var bytes: [UInt8]? = message.array
                if case .tooLarge = kind { bytes = nil }
                visit.change { if $0.messages.count < Self.maximumMessages { $0.messages.append(bytes) } }
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
    private(set) var hasRejections = false

    mutating func describe(_ visit: FeedVisit, address: String, given: [String]) {
        add(visit.isConnected ? "connected to \(masked(address: address))" : "not connected")
        if let problem = visit.problem { add("\(visit.isConnected ? "disconnected" : "reason"): \(problem)") }
        if visit.isConnected, visit.messages.isEmpty, visit.problem == nil { add("no message arrived in time") }
        let messages = visit.messages.compactMap(\.self)
        for (number, message) in visit.messages.enumerated() { describe(message, number: number + 1) }
        if !readings.isEmpty { addTable(of: readings) }
        guard let best = ReadingPlan.best(for: messages, inPlaceOf: settings) else {
            if readings.isEmpty, !messages.isEmpty { add("\nfound no flags or jq program that would read them") }
            return
        }
        if best.plan.arguments(inPlaceOf: settings).isEmpty { return }
        let isTidier = best.readings.count == readings.count && hasRejections && best.rejections == 0
        guard best.readings.count > readings.count || isTidier else { return }
        let words = ["air-quality-exporter", "--feed.url", address] + given
        let what = readings.isEmpty ? "it" : "all of it"
        let command = words.map(shellQuoted).joined(separator: " ")
        add("\nto read \(what):\n  \(command) \(best.plan.arguments(inPlaceOf: settings))")
        add("\nwhich reads:")
        addTable(of: best.readings)
    }

    /// Adds a message, with the reasons why it, or a part of it, gives no reading.
    private mutating func describe(_ message: [UInt8]?, number: Int) {
        guard let message else { return add("\nmessage \(number): too large, see --feed.max-message-bytes") }
        add("\nmessage \(number), \(message.count) bytes: \(shown(message.span))")
        var reader = MessageReader(settings)
        let decoded = reader.read(message.span, receivedAt: currentTime())
        var reasons: [RejectionReason?] = decoded.rejections.reasons
        hasRejections = hasRejections || !reasons.isEmpty
        if decoded.isWithoutReadings { reasons.append(nil) }
        for reason in reasons {
            let title = reason.map { "rejected: \(decoded.rejections[$0]) × \($0.rawValue)" }
            let fields = MessageExplanation(reason, of: message, decoded, settings: settings).fields
                .filter { $0.name != "hint" && $0.name != "message" }.map { " \($0.name)=\($0.text)" }
            add("  " + (title ?? "without readings") + fields.joined())
        }
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
