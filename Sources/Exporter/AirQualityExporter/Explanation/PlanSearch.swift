import AirQuality
import Bytes
import JSON

/// A search of messages for numbers that may be indices, and for the nearest text that names a place.
struct PlanSearch {
    /// Limits on values of a message, candidate numbers of a JSON text, steps to a value, and texts per value.
    private static let maximumValues = 2000
    private static let maximumNumbers = 300
    private static let maximumDepth = 20
    private static let maximumTexts = 60
    private static let leastScore = 20

    /// A text, or the numeric id of a place, as seen from a value that contains it.
    private struct Text {
        let steps: [PathStep]
        let text: String
        /// How unlikely the text is a place's name, from 0 up.
        var rank = 0
        /// Whether it marks a nearby number as an index, and so is not a name.
        var saysIndex = false
    }

    /// Plans with a score of how likely each is right.
    private(set) var scores: [ReadingPlan: Int] = [:]
    /// Number of values of the message examined so far.
    private var valueCount = 0
    /// Number of candidate numbers in the JSON text, by the steps that lead to them.
    private var numbers: [[PathStep]: Int] = [:]
    /// Texts of the JSON text by the steps to each value that contains them.
    private var texts: [[PathStep]: [Text]] = [:]

    /// Examines the JSON texts of a message.
    ///
    /// - Parameter isMixed: whether some texts are arrays and others are not.
    mutating func examine(_ texts: [JSONTree], isMixed: Bool) {
        valueCount = 0
        for text in texts where valueCount < Self.maximumValues { examine(text, isMixed: isMixed) }
    }

    private mutating func examine(_ message: JSONTree, isMixed: Bool) {
        numbers = [:]
        texts = [:]
        visit(message, at: [])
        // A message that names no place and has no words of a server may be the reading of a nameless place.
        let mayBeNameless = message.serverWords() == nil && !message.namesPlace
        let kind = message.kind ?? (isMixed ? .filter(message.elements == nil ? "objects" : "arrays") : nil)
        for (steps, count) in numbers {
            propose(steps, count: count, kind: kind.map { [$0] } ?? [], mayBeNameless: mayBeNameless && count == 1)
        }
    }

    private mutating func visit(_ value: JSONTree, at steps: [PathStep]) {
        valueCount += 1
        guard valueCount <= Self.maximumValues, steps.count <= Self.maximumDepth, steps.isShort else { return }
        if let steps = Self.index(value, at: steps), numbers.count < Self.maximumNumbers {
            numbers[steps, default: 0] += 1
        }
        // A text may describe numbers in each value that contains it, up to three steps out.
        for count in 0...min(3, steps.count) {
            let inner = Array(steps.suffix(count))
            if count > 0, inner[0].token == nil { break }
            for text in Self.texts(in: value, at: inner) { note(text, at: Array(steps.dropLast(count))) }
        }
        for part in value.parts { visit(part.value, at: steps + part.steps) }
    }

    private mutating func note(_ text: Text, at way: [PathStep]) {
        // The first of a list of names is enough.
        let isKnown = texts[way]?.contains { $0.steps == text.steps && (!text.saysIndex || $0.text == text.text) }
        guard isKnown != true, text.steps.isShort, texts[way, default: []].count < Self.maximumTexts else { return }
        texts[way, default: []].append(text)
    }

    /// Returns the steps to a number that may be an index, even inside a text; `nil` if there is none.
    private static func index(_ value: JSONTree, at steps: [PathStep]) -> [PathStep]? {
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

    // MARK: Texts

    /// Returns the texts in a value that describe numbers around it. Steps start at a value that contains both.
    private static func texts(in value: JSONTree, at steps: [PathStep]) -> [Text] {
        switch value {
        case .object(let fields): return coordinates(in: fields, at: steps)
        case .number(let digits):
            guard let name = steps.names.first, name.lowercased().hasSuffix("id"), FieldNames.says(name, .place),
                digits.utf8.allSatisfy(isDigit)
            else { return [] }
            return [Text(steps: steps, text: digits, rank: 55)]
        case .text(let text) where !steps.isEmpty:
            let whole = self.text(text, at: steps, rank: steps.count - 1)
            return (whole.map { [$0] } ?? []) + topic(text, at: steps)
        default: return []
        }
    }

    /// Returns the latitude and longitude of an object as a name, if it has both.
    private static func coordinates(in fields: [JSONField], at steps: [PathStep]) -> [Text] {
        let numbers = fields.filter { $0.value.index != nil }
        let found = ["lat", "lon", "lng"].compactMap { prefix in
            numbers.first { $0.name.lowercased().hasPrefix(prefix) }
        }
        guard found.count == 2 else { return [] }
        let terms = found.map { "\\(\((steps + [.field($0.name)]).expression))" }
        let name = "\"\(terms.joined(separator: ","))\""
        return [Text(steps: [.filter(name)], text: name, rank: 56)]
    }

    /// Returns the parts of a topic such as `sensors/Delhi/aqi`, last one first.
    private static func topic(_ text: String, at steps: [PathStep]) -> [Text] {
        let isTopic = steps.names.first.map { FieldNames.says($0, .topic) } ?? !text.contains(" ")
        guard isTopic, let separator = text.first(where: "/:@".contains) else { return [] }
        let parts = text.split(separator: separator, maxSplits: 16, omittingEmptySubsequences: false)
        return parts.indices.reversed().enumerated().compactMap { distance, index in
            let part = String(parts[index])
            guard FieldNames.canBePlace(part) || FieldNames.saysIndex(part) else { return nil }
            return self.text(part, at: steps + [.filter("split(\"\(separator)\")[\(index)]")], rank: distance - 5)
        }
    }

    /// - Parameter rank: added to the rank of the field names.
    private static func text(_ text: String, at steps: [PathStep], rank: Int) -> Text? {
        if FieldNames.saysIndex(text) { return Text(steps: steps, text: text, saysIndex: true) }
        guard FieldNames.isPlace(text), let own = self.rank(of: steps) else { return nil }
        return Text(steps: steps, text: text, rank: own + rank)
    }

    private static func rank(of steps: [PathStep]) -> Int? {
        guard let name = steps.names.first else { return steps.first == .key ? 20 : 44 }
        if FieldNames.says(name, .topic) { return 35 }
        // Fields for other texts do not hold names.
        let isInText = steps.names.contains { FieldNames.says($0, .text) && !FieldNames.says($0, .kind) }
        if isInText || FieldNames.says(name, .kind) { return nil }
        let own = FieldNames.rank(name, .place) ?? 44
        let outer = steps.names.dropFirst().compactMap { FieldNames.rank($0, .place) }.min()
        guard let outer, own < 50 else { return own }
        return min(own, outer + 3 + own / 10)
    }

    // MARK: Plans

    /// Proposes plans for the `count` numbers that the steps lead to; `kind` selects messages like this one.
    private mutating func propose(_ steps: [PathStep], count: Int, kind: [PathStep], mayBeNameless: Bool) {
        let containers = containers(of: steps)
        let signed = containers.prefix(3).first { $0.texts.contains(where: \.saysIndex) }
        guard let quality = FieldNames.indexScore(steps.names, isSigned: signed != nil) else { return }
        let needsSign = quality != FieldNames.indexScore(steps.names, isSigned: false)
        for (distance, (depth, texts)) in containers.enumerated() {
            var way = Array(steps[..<depth])
            var value = Array(steps[depth...])
            if needsSign, let signed, let sign = signed.texts.first(where: \.saysIndex) {
                let selection = PathStep.filter("select(\(sign.steps.term) == \(jsonLiteral(sign.text)))")
                if signed.depth <= depth {
                    way.insert(selection, at: signed.depth)
                } else {
                    value.insert(selection, at: signed.depth - depth)
                }
            }
            var names = texts.filter { !$0.saysIndex }
            if depth == 0, mayBeNameless {
                names.append(Text(steps: [.filter(#""station""#)], text: "station", rank: 60))
            }
            for name in names.sorted(by: { $0.rank < $1.rank }).prefix(3) {
                // Among equally likely plans, one that reads several numbers comes first.
                let score = quality + 60 - name.rank - 6 * distance + (count > 1 ? 1 : 0)
                guard score >= Self.leastScore else { continue }
                let plan = ReadingPlan(way: kind + way, city: name.steps, value: value)
                scores[plan] = max(scores[plan] ?? 0, score)
            }
        }
    }

    /// Returns the texts in each value that contains the number to which the steps lead, innermost value first.
    private func containers(of steps: [PathStep]) -> [(depth: Int, texts: [Text])] {
        let depths = steps.indices.dropLast(steps.last == .number ? 1 : 0).reversed()
        return depths.map { depth in
            // Excludes texts on the path to the number.
            (depth, (texts[Array(steps[..<depth])] ?? []).filter { $0.steps[0] != steps[depth] })
        }
    }
}

extension [PathStep] {
    /// Whether they fit on a command line. Also bounds the work, because each value examines the steps to it.
    fileprivate var isShort: Bool { reduce(0) { $0 + $1.code.utf8.count } <= ReadingPlan.maximumArgumentBytes }

    /// Field names on the path, last first.
    fileprivate var names: [String] { reversed().compactMap(\.name) }
}

extension JSONTree {
    /// Whether a field, or one of an element, is named as a place and has no text that marks a number as an index.
    fileprivate var namesPlace: Bool {
        if let elements { return elements.contains(where: \.namesPlace) }
        guard case .object(let fields) = self else { return false }
        return fields.contains { field in
            FieldNames.says(field.name, .place) && field.value.text.map(FieldNames.saysIndex) != true
        }
    }

    /// The filter for messages of the same kind, if a field names it.
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
