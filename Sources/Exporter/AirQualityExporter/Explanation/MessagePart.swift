import JSON

/// A value in a message as those see it who look for readings: with fields of one value each, and with views that show
/// lists, tables and texts with a structure as their elements.
struct MessagePart {
    /// Elements of a list, and fields, that are looked at.
    fileprivate static let maximumElements = 40
    private static let maximumFields = 200

    /// The way from the message.
    var steps: [PathStep] = []
    let value: JSONTree
    /// The names of its columns, where it is a row of a table that has them.
    var columns: [String]?

    /// The fields of an object, or the columns of a row; none of what is looked at together, as rows are.
    var members: [MessagePart] {
        switch value {
        case .object(let all):
            let fields = Array(all.prefix(Self.maximumFields))
            let rows = namedRows(fields).map(\.field.name)
            return fields.filter { !FieldNames.says($0.name, .otherTime) && !rows.contains($0.name) }
                .map { MessagePart(steps: steps + [.field($0.name)], value: $0.value) }
        case .array(let elements) where !value.isList:
            return elements.prefix(Self.maximumElements).enumerated().map { index, element in
                MessagePart(steps: steps + [.index(index, name: columns?[index])], value: element)
            }
        default: return []
        }
    }

    var views: [MessagePart] {
        switch value {
        case .object(let all):
            let fields = Array(all.prefix(Self.maximumFields))
            return entries(fields) + values(fields) + tables(fields) + affixed(fields)
        case .array(let elements): return lists(elements) + pairs(elements)
        case .text(let text): return inside(text)
        default: return []
        }
    }

    private func list(
        _ steps: [PathStep], of elements: some Sequence<JSONTree>, columns: [String]? = nil
    ) -> [MessagePart] {
        let way = self.steps + steps
        return elements.prefix(Self.maximumElements).map { MessagePart(steps: way, value: $0, columns: columns) }
    }

    // MARK: Objects

    /// `{"Delhi": 301, "Pune": 51}`
    private func entries(_ fields: [JSONField]) -> [MessagePart] {
        let places = fields.filter(\.isPlace)
        let names = Set(places.map(\.name))
        let others = fields.filter { !names.contains($0.name) }.map { [PathStep.field($0.name)].expression }
        let isLikely = places.count > 1 || others.isEmpty || places.contains { $0.value.namesIndex }
        guard isLikely, others.count <= 8 else { return [] }
        let rest = others.isEmpty ? [] : [PathStep.filter("del(\(others.joined(separator: ", ")))")]
        return list(rest + [.entries, .key], of: places.map { .text($0.name) })
            + list(rest + [.entries, .value], of: places.map(\.value))
    }

    /// `{"s1": {"name": "Delhi", "aqi": 301}, "s2": {"name": "Pune", "aqi": 51}}`, or with names that are there in each
    /// of them, or in one of them alone: `{"IN": {"Delhi": 301, "Pune": 51}, "FR": {"Lyon": 61, "Paris": 62}}`
    private func values(_ fields: [JSONField]) -> [MessagePart] {
        let objects = fields.compactMap { field -> [JSONField]? in
            if case .object(let members) = field.value { Array(members.prefix(Self.maximumElements)) } else { nil }
        }
        guard fields.count > 1, objects.count == fields.count else { return [] }
        let names = objects.map { Set($0.map(\.name)) }
        let areAlike = !names.reduce(names[0]) { $0.intersection($1) }.isEmpty
        let areGroups = objects.joined().allSatisfy(\.isPlace) && names.joined().count == Set(names.joined()).count
        return areAlike || areGroups ? list([.values], of: fields.map(\.value)) : []
    }

    /// `{"city": ["Delhi", "Pune"], "aqi": [301, 51]}`, `{"fields": ["city", "aqi"], "rows": [["Delhi", 301]]}`
    private func tables(_ fields: [JSONField]) -> [MessagePart] {
        let rows = namedRows(fields).flatMap { row in
            list([.field(row.field.name), .each], of: row.field.value.elements ?? [], columns: row.columns)
        }
        guard let places = fields.first(where: { $0.value.arePlaces })?.value.elements else { return rows }
        let columns = fields.filter { $0.value.elements?.count == places.count }.prefix(Self.maximumElements)
        let names = columns.map { [PathStep.field($0.name)].expression }.joined(separator: ", ")
        let cells = self.rows(of: columns.map(\.value))
        return rows + list([.filter("[\(names)] | transpose[]")], of: cells, columns: columns.map(\.name))
    }

    /// The fields with rows of a table whose columns another field names.
    private func namedRows(_ fields: [JSONField]) -> [(field: JSONField, columns: [String])] {
        fields.compactMap(\.value.columnNames).flatMap { columns in
            fields.filter { $0.value.isTable(width: columns.count) }.map { ($0, columns) }
        }
    }

    /// `{"delhi_aqi": 301, "pune_aqi": 51}`, `{"aqi_delhi": 301}`
    private func affixed(_ fields: [JSONField]) -> [MessagePart] {
        let rows = fields.compactMap { field -> JSONTree? in
            let name = field.name.lowercased()
            let city = name.replacing("aqi", with: "")
            guard name.hasPrefix("aqi") || name.hasSuffix("aqi"), field.value.index != nil,
                FieldNames.canBePlace(city)
            else { return nil }
            return .object([JSONField("city", .text(city)), JSONField("aqi", field.value)])
        }
        guard rows.count > 1 || fields.count == 1 else { return [] }
        let city = #"(.key | sub("^aqi[^a-z0-9]*|[^a-z0-9]*aqi$"; ""; "i"))"#
        let code = #"to_entries[] | select(.key | test("^aqi|aqi$"; "i")) | {city: \#(city), aqi: .value}"#
        return list([.filter(code)], of: rows)
    }

    // MARK: Arrays and texts

    /// `[{"city": "Delhi", "aqi": 301}]`, `[["Delhi", "Pune"], [301, 51]]`, `[["city", "aqi"], ["Delhi", 301]]`
    private func lists(_ elements: [JSONTree]) -> [MessagePart] {
        guard value.isList, let first = elements.first else { return [] }
        if elements.count > 1, value.isTable(width: first.elements?.count ?? 0) {
            let hasNumbers = elements.contains { $0.elements?.allSatisfy(\.isNumber) == true }
            if hasNumbers, elements.contains(where: \.arePlaces) {
                return list([.filter("transpose[]")], of: rows(of: elements))
            }
            if let columns = first.columnNames {
                return list([PathStep(code: "[1:][]")], of: elements.dropFirst(), columns: columns)
            }
        }
        return list([.each], of: elements)
    }

    /// - Parameter columns: arrays of the same length.
    private func rows(of columns: [JSONTree]) -> [JSONTree] {
        let count = min(columns.first?.elements?.count ?? 0, Self.maximumElements)
        return (0..<count).map { row in .array(columns.compactMap { $0.elements?[row] }) }
    }

    /// `["Delhi", 301, "Pune", 51]`
    private func pairs(_ elements: [JSONTree]) -> [MessagePart] {
        let pairs = stride(from: 0, to: elements.count - 1, by: 2).map { Array(elements[$0...$0 + 1]) }
        guard pairs.count > 1, pairs.allSatisfy({ $0[0].text != nil && $0[1].isNumber }) else { return [] }
        return list([.filter("range(0; length; 2) as $i | .[$i:$i + 2]")], of: pairs.map { .array($0) })
    }

    /// JSON in a text, server-sent events, or `Delhi: 301`.
    private func inside(_ text: String) -> [MessagePart] {
        let events = #"split("\n")[] | select(startswith("data:")) | ltrimstr("data:") | fromjson"#
        let capture = #"capture("^ *(?<name>[^:=;,|]+?) *[:=;,|] *(?<n>[0-9]+([.][0-9]+)?)(?![.,]?[0-9])")"#
        for (inner, code) in [(text.jsonInside, "fromjson"), (text.eventData, events), (text.nameAndNumber, capture)] {
            if let inner { return list([.filter(code)], of: [inner]) }
        }
        return []
    }
}

extension JSONField {
    /// Whether it may be a place with its reading.
    fileprivate var isPlace: Bool {
        FieldNames.canBePlace(name) && (value.isObject || value.elements != nil || value.index != nil)
    }
}

extension JSONTree {
    fileprivate var isObject: Bool { if case .object = self { true } else { false } }

    /// The number, or the first one in a short text that is no time and has no thousands.
    var index: Double? {
        switch self {
        case .number(let digits): return Double(digits)
        case .text(let text):
            guard text.utf8.count <= 40, text.filter({ "-:".contains($0) }).count < 2 else { return nil }
            let number = text.drop { !("0"..."9").contains($0) }.prefix { "0123456789.,".contains($0) }
            return Double(number.replacing(",", with: "."))
        default: return nil
        }
    }

    /// Whether a field in the value has the name of an index.
    fileprivate var namesIndex: Bool {
        guard case .object(let fields) = self else { return false }
        return fields.contains { FieldNames.isIndex($0.name) || $0.value.namesIndex }
    }

    /// Whether the elements of an array are all of one kind.
    fileprivate var isList: Bool {
        guard let elements = elements?.prefix(MessagePart.maximumElements) else { return false }
        return (elements.contains(where: \.isObject) && elements.allSatisfy { $0.isObject || $0 == .null })
            || elements.allSatisfy { $0.elements != nil }
            || elements.allSatisfy { $0.text.map { $0.jsonInside != nil || $0.nameAndNumber != nil } ?? false }
    }

    /// Whether it is an array of arrays of the same length.
    fileprivate func isTable(width: Int) -> Bool { elements?.allSatisfy { $0.elements?.count == width } ?? false }

    /// Whether it is a list of names of places, and of nothing else.
    fileprivate var arePlaces: Bool {
        guard let elements = elements?.prefix(MessagePart.maximumElements), !elements.isEmpty else { return false }
        return elements.allSatisfy { $0.text.map { FieldNames.isPlace($0) && FieldNames.canBePlace($0) } ?? false }
    }

    /// The names of columns: texts, or objects with a name each.
    fileprivate var columnNames: [String]? {
        guard let elements, !elements.isEmpty else { return nil }
        let names = elements.compactMap { element in
            element.text ?? ["name", "field", "text", "label", "id"].lazy.compactMap { element[$0]?.text }.first
        }
        return names.count == elements.count ? names : nil
    }
}

extension String {
    fileprivate var jsonInside: JSONTree? {
        let first = unicodeScalars.first { !$0.properties.isWhitespace }
        return first == "{" || first == "[" ? JSONTree(self) : nil
    }

    /// The data of the first server-sent event.
    fileprivate var eventData: JSONTree? {
        split(separator: "\n").first { $0.hasPrefix("data:") }.flatMap { JSONTree(String($0.dropFirst(5))) }
    }

    /// `Delhi: 301`, as an object of its parts.
    fileprivate var nameAndNumber: JSONTree? {
        let parts = split(maxSplits: 1, omittingEmptySubsequences: false) { ":=;,|".contains($0) }
        guard parts.count == 2, utf8.count <= 128 else { return nil }
        let name = String(parts[0])
        let number = parts[1].drop { $0 == " " }.prefix { "0123456789.,".contains($0) }
        guard FieldNames.isPlace(name), FieldNames.canBePlace(name), Double(number) != nil else { return nil }
        return .object([JSONField("name", .text(name)), JSONField("n", .number(String(number)))])
    }
}
