import AirQuality
import Bytes
import CommandLine
import JSON
import System

/// A way to read messages: the values of four flags.
struct ReadingPlan {
    private(set) var items = ""
    private(set) var cityField = "city"
    private(set) var valueField = "aqi"
    private(set) var program = "."
    /// How likely the plan is right.
    let score: Int

    /// Maximum number of plans tried; each jq program takes about 30 ms.
    static let maximumTries = 8
    /// Longer command lines are not proposed.
    static let maximumArgumentBytes = 1000

    /// Uses the flags of fields if they can express the steps, else a jq program. `way` leads from a message to the
    /// value that contains both city and index; `city` and `value` start there.
    init(way: [PathStep], city: [PathStep], value: [PathStep], score: Int) {
        self.score = score
        let end = way.lastIndex(of: .each) ?? way.endIndex
        let inElement = way[end...].dropFirst()
        if let items = way[..<end].pointer, let city = (inElement + city).field, let value = (inElement + value).field {
            self.items = items
            cityField = city
            valueField = value
        } else if city == [.field("city")], value == [.field("aqi")] {
            program = (way.last == .each ? way.dropLast() : way).expression
        } else {
            // The `?` skips elements of another kind: an error would reject the whole message.
            let object = PathStep.filter("{city: \(city.term), aqi: \(value.term)}?")
            program = (way + [object]).expression
        }
    }

    /// Returns the flags in shell syntax to replace the current ones; empty if nothing needs to change.
    func arguments(inPlaceOf settings: Configuration = Configuration()) -> String {
        let format = settings.format
        let standard = FeedFormat()
        let flags = [
            ("--feed.items", items, isNeeded: !items.isEmpty || !format.items.isEmpty),
            ("--feed.city-field", cityField, isNeeded: cityField != "city" || format.city != standard.city),
            ("--feed.value-field", valueField, isNeeded: valueField != "aqi" || format.value != standard.value),
            ("--feed.jq", program, isNeeded: program != "." || (settings.program != nil && items.isEmpty)),
        ]
        return flags.filter(\.isNeeded).map { "\($0.0) \(shellQuoted($0.1))" }.joined(separator: " ")
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

    private func read(_ messages: [[UInt8]], inPlaceOf settings: Configuration) -> Outcome {
        var outcome = Outcome(plan: self)
        var settings = settings
        let format = FeedFormat(items: jsonPointer(items) ?? [], cityField: cityField, valueField: valueField)
        settings.format.items = format.items
        settings.format.city = format.city
        settings.format.value = format.value
        settings.program = program == "." ? nil : program
        var reader = MessageReader(settings)
        for message in messages {
            let read = reader.read(message.span, receivedAt: currentTime())
            outcome.readings += read.accepted
            let rejections = read.rejections
            for reason in rejections.reasons { outcome.rejections += Int(rejections[reason]) }
        }
        return outcome
    }

    /// Returns the plan that reads most cities and least else from the first values of UTF-8 messages, with what it
    /// reads from the whole messages, if any does.
    static func best(for messages: [[UInt8]], inPlaceOf settings: Configuration) -> Outcome? {
        let samples = messages.compactMap { JSONTree.beginning(of: $0)?.map(\.firstValues) }
        let shortened = samples.map { Array($0.map(\.json).joined(separator: "\n").utf8) }
        var tried: Set<String> = []
        // Each has a higher merit than the one before it.
        var found: [Outcome] = []
        var leastScore = 0
        for plan in PlanSearch(samples).plans.sorted(by: { $0.score > $1.score })
        where plan.score >= leastScore && tried.count < maximumTries {
            let arguments = plan.arguments()
            guard arguments.utf8.count <= maximumArgumentBytes, tried.insert(arguments).inserted else { continue }
            let outcome = plan.read(shortened, inPlaceOf: settings)
            guard outcome.merit > found.last?.merit ?? (0, 0) else { continue }
            found.append(outcome)
            // A much less likely plan does not win by reading more.
            leastScore = plan.score - 15
        }
        // A plan may fail at a later value, which rejects the whole message; then the next best is tried.
        return found.reversed().lazy.map { $0.plan.read(messages, inPlaceOf: settings) }.first { !$0.readings.isEmpty }
    }
}

/// Quotes the text as one word for a POSIX shell, on one line if the text is.
func shellQuoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "/_-.:=@%+,".utf8.contains($0) }
    return isPlain ? text : "'" + text.replacingScalars("'", with: #"'\''"#) + "'"
}
