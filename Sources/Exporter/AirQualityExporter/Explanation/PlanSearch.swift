import AirQuality
import Bytes
import JSON

/// Looks through a message for numbers that may be indices, and for the nearest text that names a place.
struct PlanSearch {
    /// Parts and numbers of a message that are looked at, and how far down.
    private static let maximumParts = 2000
    private static let maximumNumbers = 300
    private static let maximumDepth = 16
    /// Texts around a number that are looked at.
    private static let maximumTexts = 60
    private static let leastScore = 20

    /// Plans with how likely each is the right one.
    private(set) var scores: [ReadingPlan: Int] = [:]
    /// Whether the message may be the reading of a place that it does not name: a server says nothing in it.
    private let mayBeNameless: Bool
    /// The selection of messages of the same sort; empty where there is but one sort.
    private let kind: [PathStep]
    private var partCount = 0
    private var numberCount = 0
    /// Parts on the way to the current one, each with what surrounds it there, and the steps to the next.
    private var trail: [(part: MessagePart, scalars: [Scalar], steps: [PathStep])] = []

    private typealias Scalar = (steps: [PathStep], value: JSONTree)
    /// A text that says that a number near it is an index, and the place on the trail from which the steps lead to it.
    private typealias Sign = (depth: Int, steps: [PathStep], text: String)

    /// - Parameter isMixed: whether other messages are no object, or no array, where this one is.
    init(_ message: JSONTree, isMixed: Bool) {
        mayBeNameless = message.serverWords() == nil
        kind = message.kind.map { [$0] } ?? (isMixed ? [.filter(message.elements == nil ? "objects" : "arrays")] : [])
        visit(MessagePart(steps: [], value: message))
    }

    private mutating func visit(_ part: MessagePart) {
        partCount += 1
        guard partCount <= Self.maximumParts, trail.count <= Self.maximumDepth else { return }
        if !trail.isEmpty, let index = part.value.index, IndexRange.isValid(index) { propose(part.value) }
        let scalars = Array(part.scalars(depth: 3).prefix(Self.maximumTexts))
        for next in part.members + part.views {
            // The parts on the way to a number are looked at by themselves, and so are the entries that it is one of.
            let isEntry = next.steps.last == .entries || next.steps.last == .values
            let others = scalars.filter { isEntry ? $0.steps.count == 1 : $0.steps.first != next.steps.first }
            trail.append((part, others, next.steps))
            visit(next)
            trail.removeLast()
        }
    }

    private mutating func propose(_ value: JSONTree) {
        let steps = trail.flatMap(\.steps)
        // The step from an entry to its value has no meaning.
        let named = steps.indices.reversed().filter { $0 == 0 || steps[$0 - 1] != .entries }
        let names = named.compactMap { steps[$0].name }
        let sign = sign
        guard let quality = FieldNames.indexScore(names, isSigned: sign != nil), numberCount < Self.maximumNumbers
        else { return }
        numberCount += 1
        var extraction: [PathStep] = []
        if let text = value.text, jsonNumber(text.utf8Span.span) == nil {
            let isFirst = text.utf8.first.map(isDigit) ?? false
            let isNamed = names.prefix(2).contains { FieldNames.isIndex($0) || FieldNames.isAir($0) }
            let isLabelled = FieldNames.saysIndex(text.filter { !$0.isNumber })
            guard isNamed || isLabelled || (isFirst && named.first != steps.count - 1) else { return }
            // No number with thousands, of which a part would be read.
            let number = "[0-9]+([.][0-9]+|,[0-9]{1,2})?"
            extraction = [
                .filter(#"capture("^[^0-9]*(?<n>\#(number))(?![.,]?[0-9])").n"#), .filter(#"gsub(","; ".")"#),
            ]
        }
        for (distance, depth) in trail.indices.reversed().enumerated() {
            for city in cities(at: depth) {
                let score = quality.score + 60 - city.rank - 6 * distance
                guard score >= Self.leastScore else { continue }
                let plan = plan(depth, city: city.steps, quality.needsSign ? sign : nil, extraction)
                scores[plan] = max(scores[plan] ?? 0, score)
            }
        }
    }

    // MARK: Surroundings of the number

    private var sign: Sign? {
        for depth in trail.indices.reversed().prefix(3) {
            for scalar in trail[depth].scalars {
                for part in parts(of: scalar) where FieldNames.saysIndex(part.text) {
                    return (depth, part.steps, part.text)
                }
            }
        }
        return nil
    }

    /// Ways to what may name the place of the number, the likeliest first.
    private func cities(at depth: Int) -> [(steps: [PathStep], rank: Int)] {
        let (part, scalars, _) = trail[depth]
        var cities: [(steps: [PathStep], rank: Int)] = []
        for scalar in scalars {
            let names = scalar.steps.compactMap(\.name)
            if case .number(let digits) = scalar.value, digits.utf8.allSatisfy(isDigit),
                names.last?.lowercased().hasSuffix("id") == true
            {
                // The number of a place, rather than that of a measurement.
                let isPlaces = names.contains { FieldNames.placeRank($0) ?? 40 < 40 }
                cities.append((scalar.steps, isPlaces ? 46 : 55))
            }
            guard let rank = rank(of: scalar, at: depth) else { continue }
            for part in parts(of: scalar) where FieldNames.isPlace(part.text) {
                let isWhole = part.steps == scalar.steps
                guard isWhole || FieldNames.canBePlace(part.text) else { continue }
                cities.append((part.steps, rank + (isWhole ? scalar.steps.count - 1 : part.rank)))
            }
        }
        if cities.isEmpty, let name = part.position { cities.append(([.filter(name)], 50)) }
        let isOneOfMany = trail.contains { $0.steps.contains(.each) && $0.part.value.elements?.count != 1 }
        if cities.isEmpty, depth == 0, mayBeNameless, !isOneOfMany {
            cities.append(([.filter(#""station""#)], 60))
        }
        return Array(cities.sorted { $0.rank < $1.rank }.prefix(3))
    }

    private func rank(of scalar: Scalar, at depth: Int) -> Int? {
        let (part, _, steps) = trail[depth]
        if depth > 0, trail[depth - 1].steps.last == .entries { return scalar.steps == [.field("key")] ? 20 : 50 }
        let names = scalar.steps.compactMap(\.name)
        guard let name = names.last else {
            // In a row a name comes before its number, and a category behind it.
            let ways = part.members.map(\.steps)
            let isBefore = (ways.firstIndex(of: scalar.steps) ?? .max) < (ways.firstIndex(of: steps) ?? 0)
            return isBefore ? 15 : 44
        }
        if FieldNames.isTopic(name) { return 35 }
        if names.contains(where: FieldNames.isOtherText) || FieldNames.isKind(name) { return nil }
        let outer = names.dropLast().compactMap(FieldNames.placeRank).min()
        if let own = FieldNames.placeRank(name) {
            return outer.map { own < 50 ? min(own, $0 + 3 + own / 10) : own } ?? own
        }
        return outer.map { $0 + 3 } ?? 44
    }

    /// The text, and where it is the name of a topic, such as `sensors/Delhi/aqi`, its parts with their ranks: the last
    /// one first, and not the root of a long name.
    private func parts(of scalar: Scalar) -> [(steps: [PathStep], text: String, rank: Int)] {
        guard let text = scalar.value.text else { return [] }
        guard scalar.steps.last?.name.map(FieldNames.isTopic) ?? !text.contains(" "),
            let separator = text.first(where: { "/:@".contains($0) })
        else { return [(scalar.steps, text, 0)] }
        let parts = text.split(separator: separator, maxSplits: 16, omittingEmptySubsequences: false)
        let indices = parts.indices.dropFirst(parts.count > 2 ? 1 : 0).reversed()
        return [(scalar.steps, text, 0)]
            + indices.enumerated().map { distance, index in
                (scalar.steps + [.filter("split(\"\(separator)\")[\(index)]")], String(parts[index]), distance - 5)
            }
    }

    // MARK: Plans

    /// The plan by flags where they can say it, else by a program.
    ///
    /// - Parameter depth: the part with the way to the place's name.
    private func plan(_ depth: Int, city: [PathStep], _ sign: Sign?, _ extraction: [PathStep]) -> ReadingPlan {
        var parts = trail.map(\.steps) + [extraction]
        var wayCount = depth
        if let sign {
            let selection = "select(\(sign.steps.inParentheses) == \(jsonLiteral(sign.text)))"
            parts.insert([.filter(selection)], at: sign.depth)
            if sign.depth <= depth { wayCount += 1 }
        }
        let way = kind + parts[..<wayCount].joined()
        let value = Array(parts[wayCount...].joined())
        if let plan = ReadingPlan(way: way, city: city, value: value) { return plan }
        if city == [.field("city")], value == [.field("aqi")] {
            return ReadingPlan(program: (way.last == .each ? way.dropLast() : way).expression)
        }
        let object = "{city: \(city.inParentheses), aqi: \(value.inParentheses)}"
        let isSafe = city.count == 1 && value.count == 1
        return ReadingPlan(program: (way + [.filter(object + (isSafe ? "" : "?"))]).expression)
    }
}

extension Collection where Element == PathStep {
    fileprivate var inParentheses: String { expression.contains(" | ") ? "(\(expression))" : expression }
}

extension ReadingPlan {
    /// The plan by flags; `nil` where they cannot say it.
    fileprivate init?(way: [PathStep], city: [PathStep], value: [PathStep]) {
        let end = way.lastIndex(of: .each) ?? way.endIndex
        let inElement = way[end...].dropFirst()
        guard let items = way[..<end].pointer, let city = Self.fieldFlag(inElement + city),
            let value = Self.fieldFlag(inElement + value)
        else { return nil }
        self.init(items: items, cityField: city, valueField: value)
    }

    private static func fieldFlag(_ steps: [PathStep]) -> String? {
        guard let pointer = steps.pointer, !pointer.isEmpty else { return nil }
        let name = String(pointer.dropFirst())
        return steps == [.field(name)] && !name.isEmpty ? name : pointer
    }
}

extension JSONTree {
    /// The selection of messages of this one's sort, where a field names it.
    fileprivate var kind: PathStep? {
        guard case .object(let fields) = self else { return nil }
        for field in fields {
            guard let text = field.value.text, FieldNames.isKind(field.name), text.utf8.count <= 64,
                !text.hasPrefix("Feature"), !FieldNames.isTopic(field.name) || !text.contains(where: "/:@".contains)
            else { continue }
            return .filter("select(\([PathStep.field(field.name)].expression)? == \(jsonLiteral(text)))")
        }
        return nil
    }
}

extension MessagePart {
    /// An expression for a name made of the coordinates; `nil` where there are none.
    fileprivate var position: String? {
        func term(_ names: String...) -> String? {
            let number = scalars(depth: 2).first { steps, value in
                value.index != nil && names.contains { steps.last?.name?.lowercased().hasPrefix($0) == true }
            }
            return number.map { "\\(\($0.steps.expression))" }
        }
        guard let latitude = term("lat"), let longitude = term("lon", "lng") else { return nil }
        return "\"\(latitude),\(longitude)\""
    }
}
