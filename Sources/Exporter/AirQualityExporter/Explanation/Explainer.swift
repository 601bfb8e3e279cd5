import AirQuality
import Bytes
import JQ
import JSON

/// Finds out how messages of a feed could be read, and tries it on those very messages.
struct Explainer {
    /// Plans that are tried; each program takes some 30 ms.
    static let maximumTries = 8
    /// Longer command lines are not proposed.
    static let maximumArgumentBytes = 1000
    /// Longer messages are not looked into.
    static let maximumBytes = 1 << 20

    /// The plan that reads most from the messages; `nil` where none does.
    ///
    /// - Parameter messages: UTF-8, as they came.
    static func plan(for messages: [[UInt8]]) -> ReadingPlan? {
        let texts = messages.map { message -> [JSONTree] in
            guard message.count <= maximumBytes else { return [] }
            return (try? JSONTree.texts(of: message.span)) ?? []
        }
        var scores: [ReadingPlan: Int] = [:]
        for candidate in texts.joined().flatMap(candidates) + legends(Array(texts.joined())) {
            scores[candidate.plan] = max(candidate.score, scores[candidate.plan] ?? 0)
        }
        // In a fixed order where scores are the same.
        let plans = scores.map { (plan: $0.key, score: $0.value, arguments: $0.key.arguments) }
            .filter { $0.arguments.utf8.count <= maximumArgumentBytes }
            .sorted { ($1.score, $0.arguments) < ($0.score, $1.arguments) }
        var best: (plan: ReadingPlan, score: Int, count: Int)?
        for candidate in plans.prefix(maximumTries) {
            // A plan that is much less likely is not better because it reads more.
            if let best, candidate.score + 15 < best.score { break }
            let count = Set(messages.flatMap { readings(of: $0, by: candidate.plan).map(\.city) }).count
            if count > best?.count ?? 0 { best = (candidate.plan, candidate.score, count) }
        }
        return best?.plan
    }

    /// The readings that the plan finds in the message.
    static func readings(of message: [UInt8], by plan: ReadingPlan) -> [(city: String, index: Double)] {
        var decoder = FeedDecoder(format: plan.format)
        let decoded: FeedMessage
        if let text = plan.program {
            guard var program = try? JQProgram(text) else { return [] }
            decoded = decoder.decode(message.span, receivedAt: 0) { try? program.run($0) }
        } else {
            decoded = decoder.decode(message.span, receivedAt: 0)
        }
        return decoded.accepted
    }

    private static func candidates(_ text: JSONTree) -> [Candidate] {
        let search = ShapeSearch(text)
        let kind = kind(of: text)
        return search.leaves.flatMap { FieldPlans(leaf: $0, kind: kind).candidates() }
            + search.containers.flatMap { TablePlans(steps: $0.steps, value: $0.value).candidates() }
    }

    /// The field of a message that says of what sort it is.
    private static func kind(of text: JSONTree) -> (name: String, text: String)? {
        guard case .object(let fields) = text else { return nil }
        for field in fields {
            guard let text = field.value.text, FieldNames.isKind(field.name), text.utf8.count <= 64,
                !text.hasPrefix("Feature"), !FieldNames.saysIndex(text) || text.utf8.count > 6
            else { continue }
            return (field.name, text)
        }
        return nil
    }

    /// `["Delhi", "Pune"]` in one message, `[301, 51]` in another.
    private static func legends(_ texts: [JSONTree]) -> [Candidate] {
        let lists = texts.flatMap { ShapeSearch($0).containers }.compactMap { container in
            container.value.elements.map { (steps: container.steps, values: $0) }
        }
        let legend = lists.first { list in
            !list.values.isEmpty
                && list.values.allSatisfy {
                    $0.text.map { FieldNames.isPlace($0) && FieldNames.canBePlace($0) } ?? false
                }
        }
        guard let legend else { return [] }
        let names = legend.values.compactMap(\.text).map(jqText).joined(separator: ", ")
        return lists.filter { $0.values.count == legend.values.count && $0.values.allSatisfy { $0.index != nil } }.map {
            let values = $0.steps.isEmpty ? "" : PathStep.expression($0.steps) + " | "
            let program = "[\(names)] as $names | \(values)to_entries[]? | {city: $names[.key], aqi: .value}"
            return Candidate(plan: ReadingPlan(program: program), score: 35)
        }
    }
}
