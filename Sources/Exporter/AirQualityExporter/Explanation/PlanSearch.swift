import AirQuality
import Bytes
import JSON

/// Looks through a message for numbers that may be indices, and for the nearest text that names a place.
struct PlanSearch {
    /// Parts of a message and numbers that are looked at, steps down to them, and texts in one part.
    private static let maximumParts = 2000
    private static let maximumNumbers = 300
    private static let maximumDepth = 20
    private static let maximumTexts = 60
    private static let leastScore = 20

    /// A text, or the number of a place, as seen from a part that it is in.
    private struct Text {
        let steps: [PathStep]
        let text: String
        /// How little likely it is a place's name, from 0; `nil`: it says that a number near it is an index.
        let rank: Int?

        /// Whether it is in a field or column of the part itself.
        var isDirect: Bool { steps.dropFirst().allSatisfy(\.isFilter) }
    }

    /// Plans with how likely each is the right one.
    private(set) var scores: [ReadingPlan: Int] = [:]
    private var partCount = 0
    /// How many numbers, which may be indices, the same steps lead to.
    private var numbers: [[PathStep]: Int] = [:]
    /// Texts by the steps to each part that they are in, or in whose fields.
    private var texts: [[PathStep]: [Text]] = [:]

    /// - Parameter isMixed: whether other messages are no object, or no array, where this one is.
    init(_ message: JSONTree, isMixed: Bool) {
        visit(MessagePart(value: message))
        // A reading of a place that it does not name; a server says nothing in it.
        let mayBeNameless = message.serverWords() == nil
        let kind = message.kind ?? (isMixed ? .filter(message.elements == nil ? "objects" : "arrays") : nil)
        for (steps, count) in numbers {
            propose(steps, count: count, kind: kind.map { [$0] } ?? [], mayBeNameless: mayBeNameless && count == 1)
        }
    }

    private mutating func visit(_ part: MessagePart) {
        partCount += 1
        guard partCount <= Self.maximumParts, part.steps.count <= Self.maximumDepth else { return }
        if let steps = part.index, numbers.count < Self.maximumNumbers { numbers[steps, default: 0] += 1 }
        for count in 0...min(3, part.steps.count) {
            let steps = Array(part.steps.suffix(count))
            if count > 0, steps[0].token == nil { break }
            note(Self.texts(of: part.value, steps), at: Array(part.steps.dropLast(count)))
        }
        for next in part.members + part.views { visit(next) }
    }

    private mutating func note(_ new: [Text], at way: [PathStep]) {
        for text in new where texts[way, default: []].count < Self.maximumTexts {
            // The first of other texts in a list says enough.
            let isKnown = texts[way]?.contains { $0.steps == text.steps && (text.rank != nil || $0.text == text.text) }
            if isKnown != true { texts[way, default: []].append(text) }
        }
    }

    // MARK: Texts

    /// The texts in a value that say something of numbers around it.
    ///
    /// - Parameter steps: those to the value from what the numbers are in as well.
    private static func texts(of value: JSONTree, _ steps: [PathStep]) -> [Text] {
        let names = steps.compactMap(\.name)
        switch value {
        case .object(let fields):
            return position(fields, steps).map { [Text(steps: [.filter($0)], text: $0, rank: 56)] } ?? []
        case .number(let digits):
            guard digits.utf8.allSatisfy(isDigit), names.last?.lowercased().hasSuffix("id") == true else { return [] }
            // The number of a place, rather than that of a measurement.
            let isPlaces = names.contains { FieldNames.placeRank($0) ?? 40 < 40 }
            return [Text(steps: steps, text: digits, rank: isPlaces ? 46 : 55)]
        case .text(let text) where !steps.isEmpty:
            let whole = (filters: [PathStep](), text: text, rank: steps.count - 1)
            let isTopic = steps.last == .key ? false : steps.last?.name.map { FieldNames.says($0, .topic) }
            return ([whole] + parts(of: text, isTopic: isTopic)).compactMap { part in
                let steps = steps + part.filters
                if FieldNames.saysIndex(part.text) { return Text(steps: steps, text: part.text, rank: nil) }
                let isName = part.filters.isEmpty || FieldNames.canBePlace(part.text)
                guard isName, FieldNames.isPlace(part.text) else { return nil }
                return rank(of: steps).map { Text(steps: steps, text: part.text, rank: $0 + part.rank) }
            }
        default: return []
        }
    }

    /// An expression for a name made of the coordinates; `nil` where there are none.
    private static func position(_ fields: [JSONField], _ steps: [PathStep]) -> String? {
        func term(_ names: String...) -> String? {
            let field = fields.prefix(200).first { field in
                field.value.index != nil && names.contains(where: field.name.lowercased().hasPrefix)
            }
            return field.map { "\\(\((steps + [.field($0.name)]).expression))" }
        }
        guard let latitude = term("lat"), let longitude = term("lon", "lng") else { return nil }
        return "\"\(latitude),\(longitude)\""
    }

    /// The parts of the name of a topic, such as `sensors/Delhi/aqi`: the last one first, and not the root of a long
    /// name.
    ///
    /// - Parameter isTopic: `nil`: it may be one where there are no blanks in it.
    private static func parts(of text: String, isTopic: Bool?) -> [(filters: [PathStep], text: String, rank: Int)] {
        guard isTopic ?? !text.contains(" "), let separator = text.first(where: "/:@".contains) else { return [] }
        let parts = text.split(separator: separator, maxSplits: 16, omittingEmptySubsequences: false)
        return parts.indices.dropFirst(parts.count > 2 ? 1 : 0).reversed().enumerated().map { distance, index in
            ([.filter("split(\"\(separator)\")[\(index)]")], String(parts[index]), distance - 5)
        }
    }

    private static func rank(of steps: [PathStep]) -> Int? {
        let names = steps.compactMap(\.name)
        guard let name = names.last else { return steps.first == .key ? 20 : 44 }
        if FieldNames.says(name, .topic) { return 35 }
        // A field of text holds something else than a name.
        let isInText = names.contains { FieldNames.says($0, .text) && !FieldNames.says($0, .kind) }
        if isInText || FieldNames.says(name, .kind) { return nil }
        let outer = names.dropLast().compactMap(FieldNames.placeRank).min()
        if let own = FieldNames.placeRank(name) {
            return outer.map { own < 50 ? min(own, $0 + 3 + own / 10) : own } ?? own
        }
        return outer.map { $0 + 3 } ?? 44
    }

    // MARK: Plans

    /// - Parameters:
    ///   - steps: those to numbers, of which there are `count`.
    ///   - kind: selects messages of this one's sort.
    private mutating func propose(_ steps: [PathStep], count: Int, kind: [PathStep], mayBeNameless: Bool) {
        let depths = steps.indices.dropLast(steps.last == .number ? 1 : 0).reversed()
        func texts(around depth: Int) -> [Text] {
            (self.texts[Array(steps[..<depth])] ?? []).filter { text in
                // Not what is on the way to the number, nor what is in the elements that it is one of.
                text.steps[0] != steps[depth] && (text.isDirect || steps[depth].token != nil)
            }
        }
        let sign = depths.prefix(3).compactMap { depth in
            texts(around: depth).first { $0.rank == nil }.map { (depth: depth, text: $0) }
        }.first
        guard let quality = FieldNames.indexScore(steps.names, isSigned: sign != nil) else { return }
        for (distance, depth) in depths.enumerated() {
            var cities = texts(around: depth).compactMap { text in
                text.rank.map { rank in
                    // In a row a name comes before its number, and a category behind it.
                    let isBefore = text.isDirect && text.steps[0].column ?? .max < steps[depth].column ?? 0
                    return (steps: text.steps, rank: isBefore ? rank - 29 : rank)
                }
            }
            if depth == 0, mayBeNameless { cities.append(([.filter(#""station""#)], 60)) }
            for city in cities.sorted(by: { $0.rank < $1.rank }).prefix(3) {
                // Among plans that are as likely, one that reads several numbers comes first.
                let score = quality.score + 60 - city.rank - 6 * distance + (count > 1 ? 1 : 0)
                guard score >= Self.leastScore else { continue }
                var steps = steps
                var depth = depth
                if quality.needsSign, let sign {
                    let selection = "select(\(sign.text.steps.term) == \(jsonLiteral(sign.text.text)))"
                    steps.insert(.filter(selection), at: sign.depth)
                    if sign.depth <= depth { depth += 1 }
                }
                let plan = ReadingPlan(way: kind + steps[..<depth], city: city.steps, value: Array(steps[depth...]))
                scores[plan] = max(scores[plan] ?? 0, score)
            }
        }
    }
}

extension PathStep {
    /// The place of a column without a name.
    fileprivate var column: Int? { name == nil ? token.flatMap { Int($0) } : nil }
}

extension [PathStep] {
    /// Names of fields on the way, the last first.
    fileprivate var names: [String] { reversed().compactMap(\.name) }
}

extension JSONTree {
    /// The selection of messages of this one's sort, where a field names it.
    fileprivate var kind: PathStep? {
        guard case .object(let fields) = self else { return nil }
        for field in fields where FieldNames.says(field.name, .kind) {
            guard let text = field.value.text, text.utf8.count <= 64, !text.hasPrefix("Feature"),
                !FieldNames.says(field.name, .topic) || !text.contains(where: "/:@".contains)
            else { continue }
            return .filter("select(\([PathStep.field(field.name)].expression)? == \(jsonLiteral(text)))")
        }
        return nil
    }
}

extension MessagePart {
    /// The steps to a number that may be an index, out of a text as well; `nil` where there is none.
    fileprivate var index: [PathStep]? {
        let names = steps.names
        guard !steps.isEmpty, let index = value.index, IndexRange.isValid(index),
            FieldNames.indexScore(names, isSigned: false) != nil
        else { return nil }
        guard let text = value.text, jsonNumber(text.utf8Span.span) == nil else { return steps }
        let isNamed = names.prefix(2).contains { FieldNames.isIndex($0) || FieldNames.says($0, .air) }
        let isLabelled = FieldNames.saysIndex(text.filter { !$0.isNumber })
        let isEntry = steps.last == .value && text.utf8.first.map(isDigit) == true
        return isNamed || isLabelled || isEntry ? steps + [.number] : nil
    }
}
