import AirQuality
import Bytes
import JSON

/// A search of messages for numbers that may be indices, and for the nearest texts that name their places.
struct PlanSearch {
    /// Limits on values of a message, numbers and texts of a JSON text, and steps to a value.
    private static let maximumValues = 2000
    private static let maximumNumbers = 300
    private static let maximumTexts = 300
    private static let maximumDepth = 20
    /// Maximum number of steps to a text from the value that contains it and a number.
    private static let maximumTextSteps = 4
    private static let leastScore = 20

    /// Steps to a number that may be an index, and how many numbers they lead to.
    private struct Candidate {
        let steps: [PathStep]
        var count = 1
    }

    /// A text, or the numeric id of a place.
    private struct Text {
        let steps: [PathStep]
        let text: String
        /// How unlikely it is a place's name, from 0 up; `nil` = by the names of the fields.
        var rank: Int?
        /// `.index` or `.quantity` if it says that a nearby number is one, and so is not a name.
        var sign: FieldName.Meaning?

        static let nameless = Text(steps: [.filter(#""station""#)], text: "station", rank: 60)
    }

    /// A text as seen from a candidate.
    private struct Neighbour {
        let text: Text
        /// Number of steps to the innermost value that contains both.
        let depth: Int
        /// The steps from that value to the text.
        let inner: [PathStep]
    }

    /// Plans with a score of how likely each is right, in the order of the messages.
    private(set) var plans: [ReadingPlan] = []
    /// Number of values of the message examined so far.
    private var valueCount = 0
    /// Candidates of the JSON text, with different steps.
    private var candidates: [Candidate] = []
    /// Texts of the JSON text, with different steps unless they have a sign.
    private var texts: [Text] = []

    /// - Parameter messages: the JSON texts of each message.
    init(_ messages: [[JSONTree]]) {
        let isMixed = Set(messages.joined().map { $0.elements == nil }).count > 1
        for message in messages {
            valueCount = 0
            for text in message where valueCount < Self.maximumValues { examine(text, isMixed: isMixed) }
        }
    }

    /// - Parameter isMixed: whether some JSON texts are arrays and others are not.
    private mutating func examine(_ message: JSONTree, isMixed: Bool) {
        candidates = []
        texts = []
        visit(message, at: [])
        let kind = message.kind ?? (isMixed ? .filter(message.elements == nil ? "objects" : "arrays") : nil)
        // A message that names no place and has no words of a server may be the reading of a nameless place.
        let mayBeNameless = message.serverWords() == nil && !message.namesPlace
        for candidate in candidates {
            propose(candidate, of: kind, mayBeNameless && candidate.count == 1 ? texts + [.nameless] : texts)
        }
    }

    private mutating func visit(_ value: JSONTree, at steps: [PathStep]) {
        valueCount += 1
        guard valueCount <= Self.maximumValues, steps.count <= Self.maximumDepth, steps.isShort else { return }
        note(value, at: steps)
        if let steps = Self.index(value, at: steps) {
            if let known = candidates.firstIndex(where: { $0.steps == steps }) {
                candidates[known].count += 1
            } else if candidates.count < Self.maximumNumbers {
                candidates.append(Candidate(steps: steps))
            }
        }
        for part in value.parts { visit(part.value, at: steps + part.steps) }
    }

    /// Returns the steps to a number that may be an index, even inside a text; `nil` if there is none.
    private static func index(_ value: JSONTree, at steps: [PathStep]) -> [PathStep]? {
        guard !steps.isEmpty, let index = value.index, IndexRange.isValid(index),
            FieldName.indexScore(steps.names, isSigned: true) != nil
        else { return nil }
        guard let text = value.text, jsonNumber(text.utf8Span.span) == nil else { return steps }
        let isNamed = steps.names.prefix(2).contains { $0.isIndex || $0.says(.air) }
        let isLabelled = FieldName.saysIndex(text.filter { !$0.isNumber })
        let isEntry = steps.last == .value && text.utf8.first.map(isDigit) == true
        return isNamed || isLabelled || isEntry ? steps + [.number] : nil
    }

    // MARK: Texts

    /// Notes the texts in a value that describe numbers around it.
    private mutating func note(_ value: JSONTree, at steps: [PathStep]) {
        switch value {
        case .object(let fields):
            // Latitude and longitude are a name.
            let numbers = fields.filter { $0.value.index != nil }
            let found = ["lat", "lon", "lng"].compactMap { prefix in
                numbers.first { $0.name.lowercased().hasPrefix(prefix) }
            }
            guard found.count == 2 else { return }
            let terms = found.map { "\\(\([PathStep.field($0.name)].expression))" }
            let name = "\"\(terms.joined(separator: ","))\""
            note(Text(steps: steps + [.filter(name)], text: name, rank: 56))
        case .number(let digits):
            let isID = steps.names.first.map { $0.says(.place) && $0.plain.hasSuffix("id") } ?? false
            guard isID, digits.utf8.allSatisfy(isDigit) else { return }
            note(Text(steps: steps, text: digits, rank: 55))
        case .text(let text) where !steps.isEmpty:
            let sign = Self.sign(of: text, in: steps.names.first)
            if sign != nil || FieldName.isPlace(text) { note(Text(steps: steps, text: text, sign: sign)) }
            noteTopic(text, at: steps)
        default: return
        }
    }

    /// Returns what a text in a field says of a nearby number: `.index` or `.quantity`.
    private static func sign(of text: String, in field: FieldName?) -> FieldName.Meaning? {
        if FieldName.saysIndex(text) { return .index }
        // The pollutant that determines an index does not say that it is a concentration.
        if field?.says(.dominant) == true { return nil }
        let meaning = FieldName(text)
        let isIndex = meaning.says(.index) || text.lowercased().contains("index")
        let isUnit = field?.says(.unit) == true && !text.isEmpty && !isIndex
        return isUnit || meaning.says(.parameter) ? .quantity : nil
    }

    /// Notes the parts of a topic such as `sensors/Delhi/aqi`; the last ones are the likeliest names.
    private mutating func noteTopic(_ topic: String, at steps: [PathStep]) {
        let isTopic = steps.names.first.map { $0.says(.topic) } ?? !topic.contains(" ")
        guard isTopic, let separator = topic.first(where: "/:@".contains) else { return }
        let parts = topic.split(separator: separator, maxSplits: 16, omittingEmptySubsequences: false).map(String.init)
        for (index, part) in parts.enumerated().reversed() {
            let sign = Self.sign(of: part, in: nil)
            guard sign != nil || (FieldName(part).canBePlace && FieldName.isPlace(part)) else { continue }
            let steps = steps + [.filter("split(\"\(separator)\")[\(index)]")]
            note(Text(steps: steps, text: part, rank: 29 + parts.count - 1 - index, sign: sign))
        }
    }

    private mutating func note(_ text: Text) {
        // The first of a list of names is enough.
        let isKnown = texts.contains { $0.steps == text.steps && (text.sign == nil || $0.text == text.text) }
        if !isKnown, texts.count < Self.maximumTexts { texts.append(text) }
    }

    /// Returns how unlikely a text at these steps is a place's name; `nil` if it is none.
    private static func rank(of steps: [PathStep]) -> Int? {
        guard let name = steps.names.first else { return steps.first == .key ? 20 : 44 }
        if name.says(.topic) { return 42 }
        // Fields for other texts do not hold names.
        let isInText = steps.names.contains { $0.says(.text) && !$0.says(.kind) }
        if isInText || name.says(.kind) { return nil }
        let own = name.ranks[.place] ?? 44
        let outer = steps.names.dropFirst().compactMap { $0.ranks[.place] }.min()
        guard let outer, own < 50 else { return own }
        return min(own, outer + 3 + own / 10)
    }

    // MARK: Plans

    /// Proposes a plan for each text that may name a candidate's place; `kind` selects messages like this one.
    private mutating func propose(_ candidate: Candidate, of kind: PathStep?, _ texts: [Text]) {
        var steps = candidate.steps
        let end = steps.last == .number ? steps.count - 1 : steps.count
        let neighbours = texts.compactMap { text -> Neighbour? in
            let depth = zip(text.steps, steps).prefix { $0 == $1 }.count
            let inner = text.steps[depth...]
            let isSingle = inner.dropLast().allSatisfy { $0.token != nil }
            let isNear = depth < end && !inner.isEmpty && inner.count <= Self.maximumTextSteps && isSingle
            return isNear ? Neighbour(text: text, depth: depth, inner: Array(inner)) : nil
        }
        let signs = neighbours.filter { $0.text.sign != nil && $0.depth >= end - 3 }
        let sign = signs.filter { $0.text.sign == .index }.max { $0.depth < $1.depth }
        let isOther = signs.contains { sign in
            sign.text.sign == .quantity && (sign.inner.count == 1 || sign.inner[0].name?.says(.about, .topic) == true)
        }
        // A number is taken from a text only if the text or its field says that it is an index.
        let isSigned = sign != nil || steps.last == .number
        guard let quality = FieldName.indexScore(steps.names, isSigned: isSigned) else { return }
        // A number beside `temperature` or a unit is an index only if its name says so.
        guard sign != nil || !isOther || quality >= 90 else { return }
        let selection = quality == FieldName.indexScore(steps.names, isSigned: false) ? nil : sign
        if let selection {
            let condition = "\(selection.inner.term) == \(jsonLiteral(selection.text.text))"
            steps.insert(.filter("select(\(condition))"), at: selection.depth)
        }
        let scored = neighbours.compactMap { place -> (place: Neighbour, score: Int)? in
            guard place.text.sign == nil, let rank = place.text.rank ?? Self.rank(of: place.inner) else { return nil }
            let distance = place.inner.count - 1 + 6 * (end - 1 - place.depth)
            // A number without a meaning is an index only beside the name itself.
            if quality < 40, place.depth < end - 1 { return nil }
            // Among equally likely plans, one that reads several numbers comes first.
            let score = quality + 60 - rank - distance + (candidate.count > 1 ? 1 : 0)
            return score < Self.leastScore ? nil : (place, score)
        }
        for (place, score) in scored.sorted(by: { $0.score > $1.score }).prefix(ReadingPlan.maximumTries) {
            let isSelected = selection.map { $0.depth <= place.depth } ?? false
            let depth = place.depth + (isSelected ? 1 : 0)
            let way = (kind.map { [$0] } ?? []) + steps[..<depth]
            plans.append(ReadingPlan(way: way, city: place.inner, value: Array(steps[depth...]), score: score))
        }
    }
}

extension Collection where Element == PathStep {
    /// Whether they fit on a command line. Also bounds the work, because each value examines the steps to it.
    fileprivate var isShort: Bool { reduce(0) { $0 + $1.code.utf8.count } <= ReadingPlan.maximumArgumentBytes }

    /// Field names on the path, last first.
    fileprivate var names: [FieldName] { reversed().compactMap(\.name) }
}

extension JSONTree {
    /// Whether a field, or one of an element, is named as a place and has no text that marks a number as an index.
    fileprivate var namesPlace: Bool {
        if let elements { return elements.contains(where: \.namesPlace) }
        guard case .object(let fields) = self else { return false }
        return fields.contains { field in
            FieldName(field.name).says(.place) && field.value.text.map(FieldName.saysIndex) != true
        }
    }

    /// The filter for messages of the same kind, if a field names it.
    fileprivate var kind: PathStep? {
        guard case .object(let fields) = self else { return nil }
        for field in fields {
            let name = FieldName(field.name)
            guard name.says(.kind), let text = field.value.text, text.utf8.count <= 64, !text.hasPrefix("Feature"),
                !name.says(.topic) || !text.contains(where: "/:@".contains)
            else { continue }
            return .filter("select(\([PathStep.field(field.name)].expression)? == \(jsonLiteral(text)))")
        }
        return nil
    }
}
