import AirQuality
import Bytes
import CommandLine
import JSON

/// A way to read messages: flags as words of a command line, empty if none are needed.
struct ReadingPlan: Hashable {
    private(set) var words: [String] = []

    /// Maximum number of plans tried; each jq program takes about 30 ms.
    private static let maximumTries = 8
    /// Longer command lines are not proposed.
    static let maximumArgumentBytes = 1000

    /// Uses field flags if they can express the steps, else a jq program. `way` leads from a message to the value that
    /// contains both city and index; `city` and `value` start there.
    init(way: [PathStep], city: [PathStep], value: [PathStep]) {
        let end = way.lastIndex(of: .each) ?? way.endIndex
        let inElement = way[end...].dropFirst()
        if let items = way[..<end].pointer, let city = (inElement + city).field, let value = (inElement + value).field {
            if !items.isEmpty { words += ["--feed.items", items] }
            if city != "city" { words += ["--feed.city-field", city] }
            if value != "aqi" { words += ["--feed.value-field", value] }
        } else if city == [.field("city")], value == [.field("aqi")] {
            words = ["--feed.jq", (way.last == .each ? way.dropLast() : way).expression]
        } else {
            // The `?` skips elements of another kind: an error would reject the whole message.
            let object = PathStep.filter("{city: \(city.term), aqi: \(value.term)}?")
            words = ["--feed.jq", (way + [object]).expression]
        }
    }

    /// The flags in shell syntax.
    var arguments: String { words.map(shellQuoted).joined(separator: " ") }

    /// Returns the flags to replace the current ones; empty if nothing needs to change.
    func arguments(inPlaceOf settings: Configuration) -> String {
        let format = settings.format
        let standard = FeedFormat()
        var all = words
        func reset(_ flag: String, to value: String, if isSet: Bool) {
            if isSet, !words.contains(flag) { all += [flag, value] }
        }
        reset("--feed.items", to: "", if: !format.items.isEmpty)
        reset("--feed.city-field", to: "city", if: format.city != standard.city)
        reset("--feed.value-field", to: "aqi", if: format.value != standard.value)
        reset("--feed.jq", to: ".", if: settings.program != nil && !words.contains("--feed.items"))
        return all.map(shellQuoted).joined(separator: " ")
    }

    /// The readings that a plan gets from messages.
    struct Outcome {
        let plan: ReadingPlan
        var readings: [(city: String, index: Double)] = []
        /// Number of rejected elements and messages.
        var rejections = 0

        /// Sort key, greatest first: the most cities, then the fewest repeated readings and rejections.
        fileprivate var merit: (Int, Int) {
            let cities = Set(readings.map(\.city)).count
            return (cities, cities - readings.count - rejections)
        }
    }

    /// Reads the messages as `probe` does with these flags. Empty if `probe` rejects them.
    private func read(_ messages: [[UInt8]]) -> Outcome {
        var outcome = Outcome(plan: self)
        guard case .run(let flags)? = try? Program.exporter.parse(arguments: ["probe", "ws://feed/"] + words),
            let options = try? flags.options(ProbeOptions.self)
        else { return outcome }
        var reader = MessageReader(options.configuration)
        for message in messages {
            let read = reader.read(message.span, receivedAt: 0)
            outcome.readings += read.accepted
            let rejections = read.rejections
            for reason in rejections.reasons { outcome.rejections += Int(rejections[reason]) }
        }
        return outcome
    }

    /// Ranks plans by the first values of UTF-8 messages, and returns the best that reads anything from the whole
    /// messages, with what it reads from them; `nil` if there is none.
    static func best(for messages: [[UInt8]]) -> Outcome? {
        let samples = messages.compactMap { JSONTree.beginning(of: $0)?.map(\.firstValues) }
        let isMixed = Set(samples.joined().map { $0.elements == nil }).count > 1
        var search = PlanSearch()
        for texts in samples { search.examine(texts, isMixed: isMixed) }
        let plans = search.scores.map { (plan: $0.key, score: $0.value, arguments: $0.key.arguments) }
            .filter { $0.arguments.utf8.count <= maximumArgumentBytes }
        // The arguments break ties in a fixed order.
        let likeliest = plans.sorted { ($1.score, $0.arguments) < ($0.score, $1.arguments) }
        let shortened = samples.map { Array($0.map(\.json).joined(separator: "\n").utf8) }
        // Each has a higher merit than the one before it.
        var found: [Outcome] = []
        var leastScore = 0
        for (plan, score, _) in likeliest.prefix(maximumTries) where score >= leastScore {
            let outcome = plan.read(shortened)
            guard outcome.merit > found.last?.merit ?? (0, 0) else { continue }
            found.append(outcome)
            // A much less likely plan does not win by reading more.
            leastScore = score - 15
        }
        // A plan may fail at a later value, which rejects the whole message; then the next best is tried.
        return found.reversed().lazy.map { $0.plan.read(messages) }.first { !$0.readings.isEmpty }
    }
}

/// Quotes the text as one word for a POSIX shell, on one line if the text is.
func shellQuoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "/_-.:=@%+,".utf8.contains($0) }
    return isPlain ? text : "'" + text.replacingScalars("'", with: #"'\''"#) + "'"
}
