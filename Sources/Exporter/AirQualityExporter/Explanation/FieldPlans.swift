import Bytes
import JSON

/// Makes plans from a number and its surroundings: the nearest text that names a place, or a field's name that does.
struct FieldPlans {
    let leaf: NumberLeaf
    /// The field that tells the sort of the message, if there is one.
    let kind: (name: String, text: String)?

    func candidates() -> [Candidate] { named() + keyed() + topical() }

    /// How much the names say that the number is an index; `nil` = it is something else.
    private func valueScore(_ names: [String], saysIndex: Bool) -> Int? {
        if names.contains(where: FieldNames.isOtherTime) { return nil }
        guard let first = names.first else { return 5 }
        if FieldNames.isIndex(first) { return 100 }
        if FieldNames.isOtherQuantity(first) { return nil }
        if FieldNames.isValue(first) {
            if saysIndex { return 92 }
            return names.dropFirst().first.map(FieldNames.isAir) == true ? 95 : 40
        }
        return names.dropFirst().prefix(2).contains(where: FieldNames.isIndex) ? 80 : 5
    }

    /// The text near the number that says that it is an index: where its object is on the way, and the way from there.
    private var sign: (depth: Int, steps: [PathStep], text: String)? {
        for depth in leaf.steps.indices.reversed().prefix(3) where leaf.values[depth].isObject {
            for (steps, text) in leaf.values[depth].texts(depth: 2) where FieldNames.saysIndex(text) {
                return (depth, steps, text)
            }
        }
        return nil
    }

    /// Plans that read the name of the place from a field.
    private func named() -> [Candidate] {
        let sign = sign
        guard let value = valueScore(leaf.names(), saysIndex: sign != nil) else { return [] }
        let signed = value == 92 ? sign : nil
        var candidates: [Candidate] = []
        for (distance, depth) in leaf.steps.indices.reversed().enumerated() where leaf.values[depth].isObject {
            let names = leaf.values[depth].placeTexts(besides: leaf.steps[depth...].first)
                .filter { $0.steps != signed?.steps || signed?.depth != depth }
            for (steps, rank) in names.prefix(3) {
                candidates.append(candidate(at: depth, city: steps, sign: signed, value + 60 - rank - 6 * distance))
            }
            if candidates.isEmpty, let text = leaf.values[depth].position {
                candidates.append(program(at: depth, city: text, sign: signed, value + 4))
            }
        }
        if candidates.isEmpty, value > 5, let depth = leaf.steps.indices.last(where: { leaf.values[$0].isObject }) {
            candidates.append(program(at: depth, city: #""station""#, sign: signed, value + 1))
        }
        return candidates
    }

    /// Plans that take the name of a field as that of the place.
    private func keyed() -> [Candidate] {
        leaf.steps.indices.reversed().compactMap { (depth) -> Candidate? in
            guard case .field(let name) = leaf.steps[depth], FieldNames.canBePlace(name),
                case .object(let fields) = leaf.values[depth]
            else { return nil }
            let sign = sign.flatMap { $0.depth > depth ? $0 : nil }
            guard let value = valueScore(leaf.names(except: depth), saysIndex: sign != nil) else { return nil }
            let rest = leaf.steps[(depth + 1)...]
            let others = fields.filter { $0.name != name }
            let alike = others.filter { FieldNames.canBePlace($0.name) && $0.value.reaches(rest) }
            let isAlone = fields.count == 1 && depth > 0 && leaf.steps[depth - 1] == .each
            guard !alike.isEmpty || isAlone || value > 5 else { return nil }
            var entries = path(to: depth)
            let noise = others.filter { $0.value.reaches(rest) && !FieldNames.canBePlace($0.name) }.map(\.name)
            if !noise.isEmpty {
                entries =
                    prefix(entries) + "del(" + noise.map { PathStep.expression([.field($0)]) }.joined(separator: ", ")
                    + ")"
            }
            entries = prefix(entries) + "to_entries[]"
            if rest.isEmpty, alike.count + noise.count < others.count {
                entries += #" | select((.value | type) == "number")"#
            }
            let expression = self.value(of: [.field("value")] + rest, from: depth, sign: value == 92 ? sign : nil)
            let safe = rest.isEmpty ? expression : "((\(expression))?)"
            return Candidate(
                plan: ReadingPlan(program: "\(selected)\(entries) | {city: .key, aqi: \(safe)}"),
                score: value + (alike.isEmpty ? 20 : 50))
        }
    }

    /// Plans that take the name of the place from a topic: `{"topic": "sensors/delhi/aqi", "payload": "301"}`.
    private func topical() -> [Candidate] {
        guard let depth = leaf.steps.indices.last(where: { leaf.values[$0].isObject }),
            let value = valueScore(leaf.names(), saysIndex: true), value > 5
        else { return [] }
        return leaf.values[depth].texts(depth: 2).compactMap { (steps, text) in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count > 1, let place = parts.lastIndex(where: { FieldNames.canBePlace($0) }) else { return nil }
            let topic = PathStep.expression(steps)
            var selection = ""
            if let sign = parts.lastIndex(where: FieldNames.saysIndex) {
                selection = "select((\(topic) | split(\"/\")[\(sign)]) == \(jqText(parts[sign]))) | "
            } else if value == 92 {
                return nil
            }
            let city = "(\(topic) | split(\"/\")[\(place)])"
            let object = "{city: \(city), aqi: \(self.value(of: leaf.steps[depth...], from: depth, sign: nil))}"
            return Candidate(
                plan: ReadingPlan(program: selected + prefix(path(to: depth)) + selection + object), score: value + 40)
        }
    }

    /// A plan by flags where they can say it, else by a program.
    private func candidate(
        at depth: Int, city: [PathStep], sign: (depth: Int, steps: [PathStep], text: String)?, _ score: Int
    ) -> Candidate {
        let items = leaf.steps[..<depth]
        let list = items.lastIndex(of: .each).map { items[..<$0] } ?? items
        let inElement = Array(items.dropFirst(list.count + (list.count < items.count ? 1 : 0)))
        if sign == nil, kind == nil, !leaf.isText, let pointer = PathStep.pointer(list),
            let city = PathStep.fieldFlag(inElement + city),
            let value = PathStep.fieldFlag(inElement + leaf.steps[depth...])
        {
            return Candidate(plan: ReadingPlan(items: pointer, cityField: city, valueField: value), score: score + 2)
        }
        return program(at: depth, city: PathStep.expression(city), sign: sign, score)
    }

    private func program(
        at depth: Int, city: String, sign: (depth: Int, steps: [PathStep], text: String)?, _ score: Int
    ) -> Candidate {
        var before = path(to: depth)
        var rest = sign
        if let sign, sign.depth <= depth {
            before = path(to: sign.depth)
            before = prefix(before) + condition(sign)
            if sign.depth < depth { before += " | " + PathStep.expression(leaf.steps[sign.depth..<depth]) }
            rest = nil
        }
        let expression = value(of: leaf.steps[depth...], from: depth, sign: rest)
        let object = "{city: \(city), aqi: \(expression)}"
        return Candidate(
            plan: ReadingPlan(program: selected + prefix(before) + object), score: score)
    }

    /// An expression to be put before others.
    private func prefix(_ expression: String) -> String { expression == "." ? "" : expression + " | " }

    /// The selection of messages of the same sort.
    private var selected: String {
        kind.map { "select(\(PathStep.expression([.field($0.name)]))? == \(jqText($0.text))) | " } ?? ""
    }

    private func condition(_ sign: (depth: Int, steps: [PathStep], text: String)) -> String {
        "select(\(PathStep.expression(sign.steps)) == \(jqText(sign.text)))"
    }

    private func path(to depth: Int) -> String { PathStep.expression(leaf.steps[..<depth]) }

    private func value(
        of steps: some Collection<PathStep>, from depth: Int,
        sign: (depth: Int, steps: [PathStep], text: String)?
    ) -> String {
        var text = PathStep.expression(steps)
        if let sign {
            let before = PathStep.expression(steps.prefix(sign.depth - depth))
            let after = PathStep.expression(steps.dropFirst(sign.depth - depth))
            text = "(\(before) | \(condition(sign)) | \(after))"
        } else if text.contains(" | ") {
            text = "(\(text))"
        }
        guard leaf.isText else { return text }
        return #"(\#(text) | gsub(","; ".") | capture("(?<n>[0-9]+([.][0-9]+)?)").n | tonumber)"#
    }
}

extension JSONTree {
    /// Texts of an object that are looked at.
    private static let maximumTexts = 60

    /// The texts of an object and of the objects in it, with the ways to them.
    func texts(depth: Int) -> [(steps: [PathStep], text: String)] {
        guard case .object(let fields) = self else { return [] }
        var found: [(steps: [PathStep], text: String)] = []
        for field in fields.prefix(Self.maximumTexts) where found.count < Self.maximumTexts {
            if let text = field.value.text { found.append(([.field(field.name)], text)) }
            guard depth > 1 else { continue }
            for (steps, text) in field.value.texts(depth: depth - 1) {
                found.append(([.field(field.name)] + steps, text))
            }
        }
        return found
    }

    /// The ways to texts that may be the name of a place, the likeliest first, and to numbers where there is no text.
    func placeTexts(besides step: PathStep?) -> [(steps: [PathStep], rank: Int)] {
        var places: [(steps: [PathStep], rank: Int)] = []
        for (steps, text) in texts(depth: 3) where FieldNames.isPlace(text) && !FieldNames.saysIndex(text) {
            let names = steps.compactMap { if case .field(let name) = $0 { name } else { nil } }
            let own = FieldNames.placeRank(names[names.count - 1])
            let outer = names.dropLast().compactMap(FieldNames.placeRank).min()
            let isInside = steps.first == step && steps.count > 1
            guard let own else {
                if !FieldNames.isOtherText(names[names.count - 1]) { places.append((steps, 52)) }
                continue
            }
            let rank = outer.map { min(own, $0 + 3) } ?? own
            places.append((steps, rank + steps.count - 1 + (isInside ? 2 : 0)))
        }
        if case .object(let fields) = self {
            for field in fields {
                guard case .number(let text) = field.value, FieldNames.placeRank(field.name) != nil,
                    FieldNames.plain(field.name).hasSuffix("id"), text.utf8.allSatisfy(isDigit)
                else { continue }
                places.append(([.field(field.name)], 48))
            }
        }
        return places.sorted { $0.rank < $1.rank }
    }

    /// An expression for a name made of the coordinates; `nil` where the object has none.
    var position: String? {
        func name(_ prefix: String) -> String? {
            guard case .object(let fields) = self else { return nil }
            return fields.first { $0.value.index != nil && FieldNames.plain($0.name).hasPrefix(prefix) }?.name
        }
        guard let latitude = name("lat"), let longitude = name("lon") ?? name("lng") else { return nil }
        let terms = [latitude, longitude].map { "\\(" + PathStep.expression([.field($0)]) + ")" }
        return "\"\(terms[0]),\(terms[1])\""
    }

    /// Whether the steps lead to a number, in the first element of an array as in all.
    func reaches(_ steps: ArraySlice<PathStep>) -> Bool {
        guard let step = steps.first else { return index != nil }
        let rest = steps.dropFirst()
        switch (step, self) {
        case (.field(let name), .object): return self[name]?.reaches(rest) ?? false
        case (.index(let index), .array(let elements)):
            return elements.indices.contains(index) && elements[index].reaches(rest)
        case (.each, .array(let elements)): return elements.contains { $0.reaches(rest) }
        case (.decoded, .text(let text)): return JSONTree(text)?.reaches(rest) ?? false
        default: return false
        }
    }
}
