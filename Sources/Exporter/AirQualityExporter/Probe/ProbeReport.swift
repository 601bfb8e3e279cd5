import AirQuality
import Bytes
import System

/// The text that `probe` prints. Whatever a server sends is escaped, so that it cannot steer a terminal.
struct ProbeReport {
    let settings: Configuration
    private(set) var text = ""
    /// Candidates are tried until then; monotonic.
    private static let patience = Duration.seconds(1)

    mutating func describe(_ visit: FeedVisit, address: String) {
        let connection = visit.connection
        add(visit.isConnected ? "connected to \(masked(address: address))" : "not connected")
        let title = visit.isConnected ? "disconnected" : "reason"
        if let problem = visit.problem { add("\(title): \(onOneLine(problem))") }
        if visit.isConnected, connection.messages == 0, visit.problem == nil {
            add("no message arrived in time: a text may be wanted (--feed.subscribe, --feed.reply)")
        }
        for kind in visit.kinds { add("\n\(kind.count) × \(kind.byteCount) bytes: \(kind.example)") }
        guard connection.messages > 0 else { return }
        add("\nread with the given flags, from \(connection.messagesWithReadings) of \(connection.messages) messages:")
        addTable(of: visit.snapshot, maximum: 50)
        for reason in connection.rejections.reasons {
            let example = connection.example(of: .rejected(reason))?.fields.text ?? ""
            add("  rejected: \(connection.rejections[reason]) × \(reason.rawValue) \(onOneLine(example))")
        }
        guard connection.messagesWithoutReadings > 0,
            let fields = connection.example(of: .withoutReadings)?.memberFields
        else {
            return
        }
        add("  without readings: \(connection.messagesWithoutReadings) \(onOneLine(fields.text))")
    }

    /// Adds the protocol, what the server wants, and candidates with what each reads, or what is missing.
    ///
    /// - Parameter command: the words before a candidate's flags.
    mutating func describe(_ suggestion: Suggestion, for visit: FeedVisit, command: [String]) {
        if let section = suggestion.section {
            add("\nthe server seems to speak \(onOneLine(section.name)): FEEDS.md, section \(quoted(section.title))")
        }
        if let wants = suggestion.wants { add("the server seems to want a \(onOneLine(wants))") }
        let end = monotonicTime() + Self.patience
        let candidates = suggestion.candidates.prefix(3)
        let found = candidates.count { monotonicTime() < end && describe($0, for: visit, command, until: end) }
        guard found == 0, visit.connection.readings == 0 else { return }
        add("\nfound nothing that would read them" + suggestion.missing.map { ", no \(onOneLine($0))" }.joined())
        for (path, example) in suggestion.fields.prefix(20) {
            add("  \(shown(path.utf8Span.span, bytes: 64)): \(shown(example.utf8Span.span, bytes: 64))")
        }
    }

    /// Returns whether the candidate reads more than the given flags, and so was added.
    private mutating func describe(
        _ candidate: Suggestion.Candidate, for visit: FeedVisit, _ command: [String], until end: Duration
    ) -> Bool {
        guard let words = candidate.words(inPlaceOf: settings), let settings = candidate.settings(inPlaceOf: settings)
        else { return false }
        var result = ProbeResult(settings)
        var count = 0
        for message in visit.kept where count == 0 || monotonicTime() < end {
            result.read(message)
            count += 1
        }
        let read = result.connection.messagesWithReadings
        let isMore = result.snapshot.cityCount > visit.snapshot.cityCount
        guard isMore || read > visit.connection.messagesWithReadings else { return false }
        add("\n" + (command + words).map(shellQuoted).joined(separator: " "))
        add("reads from \(read) of \(count) messages:")
        addTable(of: result.snapshot, maximum: 10)
        for caution in candidate.cautions { add("  caution: \(onOneLine(caution))") }
        return true
    }

    private mutating func add(_ line: String) { text += line + "\n" }

    private mutating func addTable(of snapshot: StoreSnapshot, maximum: Int) {
        guard snapshot.cityCount > 0 else { return }
        let scale = snapshot.rules.scale
        var rows = [["city", "aqi", "category (\(scale.name))", "time", "pollutants", "place"]]
        rows += snapshot.states.prefix(maximum).map { state in
            var time: [UInt8] = []
            time.appendRFC3339(state.updatedAt)
            let values = state.extras?.concentrations ?? state.extras?.subIndices
            let pollutants = PollutantValues.pollutants.enumerated().compactMap { index, name in
                values?[index].map { "\(name) \($0)" }
            }
            let place = state.extras?.place
            let degrees = [place?.latitude, place?.longitude].compactMap { $0.map { "\($0)" } }
            let country = place.map { onOneLine(String(decoding: $0.country, as: UTF8.self)) } ?? ""
            return [
                shown(state.name.span, bytes: 40), "\(state.aqi)", scale.categories[Int(state.category) - 1].name,
                String(decoding: time, as: UTF8.self), pollutants.joined(separator: ", "),
                (country.isEmpty ? degrees : [country] + degrees).joined(separator: " "),
            ]
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            add("  " + cells.joined(separator: "  "))
        }
        if snapshot.cityCount > maximum { add("  … and \(snapshot.cityCount - maximum) more") }
    }
}
