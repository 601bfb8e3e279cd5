import AirQuality
import Bytes
import CommandLine
import JSON

/// A way to read messages: values of the flags of fields, or a program in jq's language.
struct ReadingPlan: Hashable {
    var items = ""
    var cityField = "city"
    var valueField = "aqi"
    var program: String?

    /// Plans that are tried; each program takes some 30 ms.
    private static let maximumTries = 8
    /// Longer command lines are not proposed.
    private static let maximumArgumentBytes = 1000

    /// The flags as they are typed into a shell; empty: none are needed.
    var arguments: String {
        if let program { return "--feed.jq \(shellQuoted(program))" }
        var words: [String] = []
        if !items.isEmpty { words += ["--feed.items", items] }
        if cityField != "city" { words += ["--feed.city-field", cityField] }
        if valueField != "aqi" { words += ["--feed.value-field", valueField] }
        return words.map(shellQuoted).joined(separator: " ")
    }

    /// The readings that the plan finds in the messages, and how many elements and messages it rejects.
    func read(_ messages: [[UInt8]]) -> (readings: [(city: String, index: Double)], rejections: Int) {
        var settings = Configuration()
        settings.program = program
        settings.format = FeedFormat(items: jsonPointer(items) ?? [], cityField: cityField, valueField: valueField)
        var reader = MessageReader(settings)
        var readings: [(city: String, index: Double)] = []
        var rejections: UInt64 = 0
        for message in messages {
            let decoded = reader.read(message.span, receivedAt: 0).decoded
            readings += decoded.accepted
            for reason in decoded.rejections.reasons { rejections += decoded.rejections[reason] }
        }
        return (readings, Int(rejections))
    }

    /// The plan that reads most from the messages; `nil` where none does.
    ///
    /// - Parameter messages: UTF-8, as they came.
    static func best(for messages: [[UInt8]]) -> ReadingPlan? {
        let texts = messages.compactMap(JSONTree.beginning(of:)).joined()
        let arrays = texts.count { $0.elements != nil }
        var scores: [ReadingPlan: Int] = [:]
        for text in texts {
            let isMixed = arrays > 0 && arrays < texts.count
            scores.merge(PlanSearch(text, isMixed: isMixed).scores, uniquingKeysWith: max)
        }
        // In a fixed order where scores are the same.
        let plans = scores.map { (plan: $0.key, score: $0.value, arguments: $0.key.arguments) }
            .filter { $0.arguments.utf8.count <= maximumArgumentBytes }
            .sorted { ($1.score, $0.arguments) < ($0.score, $1.arguments) }
        var best: (plan: ReadingPlan, score: Int, cities: Int, rejections: Int)?
        for candidate in plans.prefix(maximumTries) {
            // A plan that is much less likely is not better because it reads more.
            if let best, candidate.score + 15 < best.score { break }
            let (readings, rejections) = candidate.plan.read(messages)
            let cities = Set(readings.map(\.city)).count
            if (cities, -rejections) > (best?.cities ?? 0, -(best?.rejections ?? 0)) {
                best = (candidate.plan, candidate.score, cities, rejections)
            }
        }
        return best?.plan
    }
}

/// The text as one word of a POSIX shell, on one line where the text is.
func shellQuoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "/_-.:=@%+,".utf8.contains($0) }
    return isPlain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
}
