import AirQuality
import Bytes
import CommandLine
import FeedOptions
import JQ
import Synchronization
import System
import WebSocket

/// `probe`: prints what a feed sends, what is read from it, and what would read the rest.
///
/// - Returns: the exit status, 0 when a reading came.
func probe(_ flags: ParsedFlags, arguments: [String]) throws(FlagError) -> Int32 {
    let options: ProbeOptions = try flags.options()
    let text = flags.operands[0]
    guard let address = ValueFormat.feedAddress.parse(text) else {
        throw FlagError("URL \(quoted(masked(address: text))): expected \(ValueFormat.feedAddress.expected(text))")
    }
    if let mistake = options.configuration.feedMistake {
        throw FlagError("\(Configuration.flag(mistake.member)): expected \(mistake.expected)")
    }
    let visit = FeedVisit(address, options.configuration)
    do throws(SystemError) {
        try visit.wait(for: options.timeout)
    } catch {
        throw FlagError(error.reason)
    }
    let report = ProbeReport(visit.result, address: text, options.configuration, given: feedWords(of: arguments))
    StandardStream.output.write(report.text)
    return report.isSuccessful ? 0 : 1
}

/// The flags of the connection as they were typed, without those of the shape of messages.
private func feedWords(of arguments: [String]) -> [String] {
    let shapes = ["--feed.items", "--feed.city-field", "--feed.value-field", "--feed.jq", "--timeout"]
    var words: [String] = []
    var isSkipped = false
    for word in arguments.drop(while: { !$0.hasPrefix("--") }) {
        if word.hasPrefix("--") { isSkipped = shapes.contains { word == $0 || word.hasPrefix($0 + "=") } }
        let isAddress = !word.hasPrefix("--") && ValueFormat.feedAddress.parse(word) != nil
        if !isSkipped, !isAddress { words.append(word) }
    }
    return words
}

/// One connection to a feed, for up to three messages.
private final class FeedVisit: Sendable {
    static let maximumMessages = 3

    struct Result {
        var messages: [(bytes: [UInt8], kind: WebSocketMessageKind)] = []
        var isConnected = false
        /// Why the connection ended or did not come; `nil` while it is there.
        var problem: String?
    }

    private let state = Mutex(Result())
    private let client = Mutex<WebSocketClient?>(nil)
    private let configuration: WebSocketClientConfiguration

    init(_ address: WebSocketAddress, _ settings: Configuration) {
        configuration = WebSocketClientConfiguration(
            address: address, options: settings.feed, flag: Configuration.feedFlag)
    }

    var result: Result { state.withLock { $0 } }

    /// Blocks until there are enough messages, the connection has ended, or the time is over.
    func wait(for timeout: Duration) throws(SystemError) {
        let isOver = try WakePipe()
        let client = WebSocketClient(
            configuration: configuration,
            onEvent: { event in
                switch event {
                case .connected: self.state.withLock { $0.isConnected = true }
                case .disconnected(_, let detail, _):
                    self.state.withLock { $0.problem = $0.problem ?? detail }
                    isOver.wake()
                case .connecting, .paused, .resumed: break
                }
            },
            onMessage: { kind, message in
                let bytes = (0..<message.count).map { message[$0] }
                let isEnough = self.state.withLock { state in
                    if state.messages.count < Self.maximumMessages { state.messages.append((bytes, kind)) }
                    return state.messages.count == Self.maximumMessages
                }
                if isEnough { isOver.wake() }
            })
        let thread = try ServiceThread(name: "feed", body: client.run)
        _ = isOver.wait(timeout)
        let result = self.result
        client.stop()
        thread.join()
        state.withLock { $0 = result }
    }
}

/// The text that `probe` prints.
private struct ProbeReport {
    private(set) var text = ""
    private(set) var isSuccessful = false

    init(_ visit: FeedVisit.Result, address: String, _ settings: Configuration, given: [String]) {
        add(visit.isConnected ? "connected to \(masked(address: address))" : "not connected")
        if let problem = visit.problem { add("\(visit.isConnected ? "disconnected" : "reason"): \(problem)") }
        var unread: [[UInt8]] = []
        var readings: [(city: String, index: Double)] = []
        for (number, message) in visit.messages.enumerated() {
            let content = shown(message.bytes.span, bytes: FeedHandler.shownBytes)
            if case .tooLarge(let count) = message.kind {
                add(
                    "\nmessage \(number + 1), \(count) bytes: too large, see \(Configuration.flag(\.feed.maximumMessageBytes))"
                )
                continue
            }
            add("\nmessage \(number + 1), \(message.bytes.count) bytes: \(content)")
            let found = explain(message.bytes, settings)
            if found.isEmpty { unread.append(message.bytes) }
            readings += found
        }
        if visit.isConnected, visit.messages.isEmpty, visit.problem == nil { add("no message came in time") }
        if !readings.isEmpty { table(readings) }
        isSuccessful = !readings.isEmpty
        guard readings.isEmpty, let plan = Explainer.plan(for: unread), !plan.arguments.isEmpty else { return }
        let command =
            ["air-quality-exporter", Configuration.flag(\.feeds), shellQuoted(address)] + given.map(shellQuoted)
        add("\nto read it:\n  " + command.joined(separator: " ") + " " + plan.arguments)
        add("\nwhich reads:")
        table(unread.flatMap { Explainer.readings(of: $0, by: plan) })
    }

    private mutating func add(_ line: String) { text += line + "\n" }

    /// The readings of a message; adds why it gives none, or what of it is rejected.
    private mutating func explain(_ message: [UInt8], _ settings: Configuration) -> [(city: String, index: Double)] {
        var decoder = FeedDecoder(format: settings.format)
        var elements: [UInt8]?
        var words: String?
        let decoded: FeedMessage
        if let text = settings.program {
            decoded = decoder.decode(message.span, receivedAt: currentTime()) { message in
                do throws(JQError) {
                    var program = try JQProgram(text, limits: settings.programLimits)
                    let results = try program.run(message)
                    elements = results
                    return results
                } catch {
                    words = error.reason
                    return nil
                }
            }
        } else {
            decoded = decoder.decode(message.span, receivedAt: currentTime())
        }
        var reasons: [RejectionReason?] = RejectionReason.allCases.filter { decoded.rejections[$0] > 0 }
        if decoded.isWithoutReadings { reasons.append(nil) }
        for reason in reasons {
            let explanation = MessageExplanation(
                reason, of: message, elements: elements, decoded: decoded, words: words, settings: settings)
            let fields = explanation.fields.filter { $0.name != "hint" && $0.name != "message" }
                .map { " \($0.name)=\($0.text)" }.joined()
            add(
                "  " + (reason.map { "rejected: \(decoded.rejections[$0]) × \($0.rawValue)" } ?? "without readings")
                    + fields)
        }
        return decoded.accepted
    }

    private mutating func table(_ readings: [(city: String, index: Double)]) {
        let width = min(40, readings.map(\.city.count).max() ?? 0)
        add("\n  " + "city".padded(to: width) + "  aqi")
        for reading in readings.prefix(50) {
            add("  " + onOneLine(reading.city).padded(to: width) + "  \(reading.index)")
        }
        if readings.count > 50 { add("  … and \(readings.count - 50) more") }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
