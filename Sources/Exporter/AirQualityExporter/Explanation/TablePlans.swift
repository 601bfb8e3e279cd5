import Bytes
import JSON

/// Makes plans for tables: columns, rows with and without a header, lists that alternate, texts with a name and a
/// number.
struct TablePlans {
    let steps: [PathStep]
    let value: JSONTree

    func candidates() -> [Candidate] {
        switch value {
        case .object(let fields): columns(fields) + rowsWithLegend(fields) + namesWithEnding(fields)
        case .array(let elements): rows(elements) + alternating(elements) + texts(elements)
        default: []
        }
    }

    private var before: String {
        let expression = PathStep.expression(steps)
        return expression == "." ? "" : expression + " | "
    }

    private func program(_ text: String, _ score: Int) -> Candidate {
        Candidate(plan: ReadingPlan(program: before + text), score: score)
    }

    /// `{"city": ["Delhi", "Pune"], "aqi": [301, 51]}`
    private func columns(_ fields: [JSONField]) -> [Candidate] {
        let columns = fields.compactMap { field in field.value.elements.map { (name: field.name, values: $0) } }
        let places = columns.filter {
            !$0.values.isEmpty && $0.values.allSatisfy { $0.text.map(FieldNames.isPlace) ?? false }
        }
        guard let place = places.min(by: { Self.rank($0.name) < Self.rank($1.name) }) else { return [] }
        return columns.compactMap { column in
            guard column.values.count == place.values.count, let score = Self.score(column.name, column.values) else {
                return nil
            }
            let names = [place.name, column.name].map { PathStep.expression([.field($0)]) }.joined(separator: ", ")
            return program("[\(names)] | transpose[] | {city: .[0], aqi: .[1]}", score + 50)
        }
    }

    /// `{"fields": ["city", "aqi"], "rows": [["Delhi", 301]]}`
    private func rowsWithLegend(_ fields: [JSONField]) -> [Candidate] {
        var candidates: [Candidate] = []
        for legend in fields {
            guard let names = legend.value.legend else { continue }
            for rows in fields {
                guard let first = rows.value.elements?.first?.elements, first.count == names.count else { continue }
                candidates += positions(steps + [.field(rows.name)], names, first, 40)
            }
        }
        return candidates
    }

    private func rows(_ elements: [JSONTree]) -> [Candidate] {
        guard let first = elements.first?.elements, elements.allSatisfy({ $0.elements?.count == first.count }) else {
            return []
        }
        if elements.count > 1, let names = elements[0].legend, let row = elements[1].elements {
            let found = Self.columns(names, row)
            return found.map { program(".[1:][] | {city: .[\($0.city)], aqi: .[\($0.value)]}", $0.score + 40) }
        }
        return positions(steps, Array(repeating: "", count: first.count), first, 30)
    }

    /// Plans for rows whose columns have these names.
    private func positions(_ steps: [PathStep], _ names: [String], _ row: [JSONTree], _ score: Int) -> [Candidate] {
        Self.columns(names, row).map { found in
            if let items = PathStep.pointer(steps) {
                let plan = ReadingPlan(items: items, cityField: "/\(found.city)", valueField: "/\(found.value)")
                return Candidate(plan: plan, score: found.score + score)
            }
            let rows = PathStep.expression(steps + [.each])
            let plan = ReadingPlan(program: "\(rows) | {city: .[\(found.city)], aqi: .[\(found.value)]}")
            return Candidate(plan: plan, score: found.score + score)
        }
    }

    /// The columns of a row that may be the name and the index.
    private static func columns(_ names: [String], _ row: [JSONTree]) -> [(city: Int, value: Int, score: Int)] {
        let places = row.indices.filter { row[$0].text.map(FieldNames.isPlace) ?? false }
        guard let city = places.min(by: { rank(names[$0]) < rank(names[$1]) }) else { return [] }
        return row.indices.compactMap { column in
            guard column != city, let score = score(names[column], [row[column]]) else { return nil }
            return (city, column, score)
        }
    }

    private static func rank(_ name: String) -> Int { FieldNames.placeRank(name) ?? 60 }

    private static func score(_ name: String, _ values: [JSONTree]) -> Int? {
        guard !values.isEmpty, values.allSatisfy({ $0.index.map { (0...9999).contains($0) } ?? false }) else {
            return nil
        }
        if FieldNames.isIndex(name) { return 100 }
        if FieldNames.isOtherQuantity(name) { return nil }
        return FieldNames.isValue(name) ? 40 : 10
    }

    /// `["Delhi", 301, "Pune", 51]`
    private func alternating(_ elements: [JSONTree]) -> [Candidate] {
        guard elements.count >= 2, elements.count % 2 == 0, steps.last != .each else { return [] }
        let isAlternating = elements.indices.allSatisfy { place in
            place % 2 == 0
                ? elements[place].text.map(FieldNames.isPlace) ?? false
                : elements[place].index != nil && elements[place].text == nil
        }
        guard isAlternating else { return [] }
        return [program(". as $all | range(0; length; 2) | {city: $all[.], aqi: $all[. + 1]}", 45)]
    }

    /// `["Delhi: 301", "Pune: 51"]`
    private func texts(_ elements: [JSONTree]) -> [Candidate] {
        let isPair = { (element: JSONTree) in
            guard let text = element.text, let first = text.unicodeScalars.first else { return false }
            let last = text.unicodeScalars.last.map { ("0"..."9").contains($0) } ?? false
            return first.properties.isAlphabetic && last && text.contains { ":=;,|".contains($0) }
        }
        guard !elements.isEmpty, elements.allSatisfy(isPair) else { return [] }
        let pattern = #""^ *(?<city>.*?) *[:=;,|] *(?<aqi>[0-9.]+) *$""#
        return [program(".[] | capture(\(pattern)) | .aqi |= tonumber", 45)]
    }

    /// `{"delhi_aqi": 301, "pune_aqi": 51}`, and with `aqi` in front.
    private func namesWithEnding(_ fields: [JSONField]) -> [Candidate] {
        for (pattern, isEnd) in [("[^A-Za-z0-9]aqi$", true), ("^aqi[^A-Za-z0-9]", false)] {
            let found = fields.filter { field in
                let name = field.name.lowercased()
                let rest = isEnd ? name.dropLast(4) : name.dropFirst(4)
                let isAffixed = isEnd ? name.hasSuffix("aqi") : name.hasPrefix("aqi")
                let isPlace = !rest.isEmpty && FieldNames.canBePlace(String(rest)) && !FieldNames.isValue(String(rest))
                return isAffixed && isPlace && field.value.index != nil
            }
            guard !found.isEmpty, found.count > 1 || fields.count == 1 else { continue }
            let city = #"(.key | sub("\#(pattern)"; ""; "i"))"#
            return [
                program(#"to_entries[] | select(.key | test("\#(pattern)"; "i")) | {city: \#(city), aqi: .value}"#, 150)
            ]
        }
        return []
    }
}

extension JSONTree {
    var elements: [JSONTree]? { if case .array(let elements) = self { elements } else { nil } }

    /// The names of columns: texts, or objects with a name each.
    var legend: [String]? {
        guard let elements, !elements.isEmpty else { return nil }
        let names = elements.compactMap { element in
            element.text
                ?? ["name", "field", "text", "title", "label", "id"].lazy.compactMap { element[$0]?.text }.first
        }
        return names.count == elements.count ? names : nil
    }
}
