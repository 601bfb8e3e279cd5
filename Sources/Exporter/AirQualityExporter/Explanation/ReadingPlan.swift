import AirQuality
import Bytes
import CommandLine
import JSON

/// A way to read messages: flags as words of a command line, empty if none are needed.
struct ReadingPlan: Hashable {
    let words: [String]

    /// Maximum number of plans tried; each jq program takes about 30 ms.
    private static let maximumTries = 8
    /// Longer command lines are not proposed.
    static let maximumArgumentBytes = 1000

    /// Uses field flags if they can express the way, else a jq program. `way` leads from a message to the value that
    /// contains city and index, where the other steps start.
    init(way: [PathStep], city: [PathStep], value: [PathStep]) {
        let end = way.lastIndex(of: .each) ?? way.endIndex
        let inElement = way[end...].dropFirst()
        if let items = way[..<end].pointer, let city = (inElement + city).field, let value = (inElement + value).field {
            words =
                (items.isEmpty ? [] : ["--feed.items", items])
                + (city == "city" ? [] : ["--feed.city-field", city])
                + (value == "aqi" ? [] : ["--feed.value-field", value])
        } else if city == [.field("city")], value == [.field("aqi")] {
            words = ["--feed.jq", (way.last == .each ? way.dropLast() : way).expression]
        } else {
            // Passes over elements of another kind: an error would reject the whole message.
            let object = PathStep.filter("{city: \(city.term), aqi: \(value.term)}?")
            words = ["--feed.jq", (way + [object]).expression]
        }
    }

    /// The flags in shell syntax.
    var arguments: String { words.map(shellQuoted).joined(separator: " ") }

    /// Returns the flags to replace the current ones; empty if nothing needs to change.
    func arguments(inPlaceOf settings: Configuration) -> String {
        let format = settings.format
        let hasItems = words.contains("--feed.items")
        let defaults = [
            ("--feed.items", "", !format.items.isEmpty), ("--feed.city-field", "city", format.cityField != "city"),
            ("--feed.value-field", "aqi", format.valueField != "aqi"),
            ("--feed.jq", ".", settings.program != nil && !hasItems),
        ]
        let others = defaults.filter { $0.2 && !words.contains($0.0) }.flatMap { [$0.0, $0.1] }
        return (words + others).map(shellQuoted).joined(separator: " ")
    }

    /// The readings that a plan gets from messages.
    struct Outcome {
        let plan: ReadingPlan
        var readings: [(city: String, index: Double)] = []
        /// Number of rejected elements and messages.
        var rejections = 0

        /// Number of cities, then how little else: the higher, the better.
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
            outcome.readings += read.decoded.accepted
            let rejections = read.decoded.rejections
            for reason in rejections.reasons { outcome.rejections += Int(rejections[reason]) }
        }
        return outcome
    }

    /// Returns the plan that reads most cities and least else from the first values of UTF-8 messages, with what it
    /// reads from the whole messages, if any does.
    static func best(for messages: [[UInt8]]) -> Outcome? {
        let samples = messages.compactMap { JSONTree.beginning(of: $0)?.map(\.firstValues) }
        let isMixed = Set(samples.joined().map { $0.elements == nil }).count > 1
        var search = PlanSearch()
        for texts in samples { search.examine(texts, isMixed: isMixed) }
        // Breaks ties in a fixed order.
        let plans = search.scores.map { (plan: $0.key, score: $0.value, arguments: $0.key.arguments) }
            .filter { $0.arguments.utf8.count <= maximumArgumentBytes }
            .sorted { ($1.score, $0.arguments) < ($0.score, $1.arguments) }
            .prefix(maximumTries)
        let shortened = samples.map { Array($0.map(\.json).joined(separator: "\n").utf8) }
        // A much less likely plan than the first that reads anything is not better for reading more.
        var found: [(outcome: Outcome, score: Int)] = []
        for (plan, score, _) in plans where score >= (found.last?.score ?? 0) - 15 {
            let outcome = plan.read(shortened)
            if outcome.merit > found.last?.outcome.merit ?? (0, 0) { found.append((outcome, score)) }
        }
        // An error at a later value rejects the whole message.
        return found.reversed().lazy.map { $0.outcome.plan.read(messages) }.first { !$0.readings.isEmpty }
    }
}

/// Quotes the text as one word for a POSIX shell, on one line if the text is.
func shellQuoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "/_-.:=@%+,".utf8.contains($0) }
    return isPlain ? text : "'" + text.replacingScalars("'", with: #"'\''"#) + "'"
}
