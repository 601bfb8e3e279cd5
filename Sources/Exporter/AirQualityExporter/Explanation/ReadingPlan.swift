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
    /// Longer messages are not looked into.
    static let maximumMessageBytes = 1 << 20

    /// The flags as they are typed into a shell; empty: none are needed.
    var arguments: String {
        if let program { return "--feed.jq \(shellQuoted(program))" }
        var words: [String] = []
        if !items.isEmpty { words += ["--feed.items", items] }
        if cityField != "city" { words += ["--feed.city-field", cityField] }
        if valueField != "aqi" { words += ["--feed.value-field", valueField] }
        return words.map(shellQuoted).joined(separator: " ")
    }

    /// The readings that the plan finds in the messages.
    func readings(of messages: [[UInt8]]) -> [(city: String, index: Double)] {
        var settings = Configuration()
        settings.program = program
        settings.format = FeedFormat(items: jsonPointer(items) ?? [], cityField: cityField, valueField: valueField)
        var reader = MessageReader(settings)
        var readings: [(city: String, index: Double)] = []
        for message in messages { readings += reader.read(message.span, receivedAt: 0).decoded.accepted }
        return readings
    }

    /// The plan that reads most from the messages; `nil` where none does.
    ///
    /// - Parameter messages: UTF-8, as they came.
    static func best(for messages: [[UInt8]]) -> ReadingPlan? {
        let texts = messages.compactMap(JSONTree.bounded).joined()
        let legends = Array(texts.flatMap(\.legends).prefix(20))
        var scores: [ReadingPlan: Int] = [:]
        for text in texts { scores.merge(PlanSearch(text, legends: legends).scores, uniquingKeysWith: max) }
        // In a fixed order where scores are the same.
        let plans = scores.map { (plan: $0.key, score: $0.value, arguments: $0.key.arguments) }
            .filter { $0.arguments.utf8.count <= maximumArgumentBytes }
            .sorted { ($1.score, $0.arguments) < ($0.score, $1.arguments) }
        var best: (plan: ReadingPlan, score: Int, count: Int)?
        for candidate in plans.prefix(maximumTries) {
            // A plan that is much less likely is not better because it reads more.
            if let best, candidate.score + 15 < best.score { break }
            let count = Set(candidate.plan.readings(of: messages).map(\.city)).count
            if count > best?.count ?? 0 { best = (candidate.plan, candidate.score, count) }
        }
        return best?.plan
    }
}

extension JSONTree {
    /// The lists of places anywhere in the value.
    fileprivate var legends: [[String]] {
        switch self {
        case .object(let fields): fields.flatMap(\.value.legends)
        case .array(let elements): places.map { [$0] } ?? elements.flatMap(\.legends)
        default: []
        }
    }
}

/// The text as one word of a POSIX shell, on one line where the text is.
func shellQuoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "/_-.:=@%+,".utf8.contains($0) }
    return isPlain ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
}
