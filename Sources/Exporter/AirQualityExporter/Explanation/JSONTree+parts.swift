import JSON

/// A value inside another one, with the steps to it.
typealias MessagePart = (steps: [PathStep], value: JSONTree)

extension JSONTree {
    /// Maximum number of an object's fields that are examined as places or columns.
    private static let maximumEntries = 40

    /// The first elements and fields, which are enough to search and to try plans, of each array and object.
    var firstValues: JSONTree {
        switch self {
        case .array(let elements): .array(elements.prefix(40).map(\.firstValues))
        case .object(let fields): .object(fields.prefix(200).map { JSONField($0.name, $0.value.firstValues) })
        default: self
        }
    }

    /// The inner values to search for readings: fields, elements, and the contents of lists, tables and texts.
    var parts: [MessagePart] {
        switch self {
        case .object(let fields):
            Self.members(fields) + Self.values(fields) + Self.entries(fields) + Self.columns(fields)
                + Self.affixed(fields)
        case .array(let elements): isList ? lists : Self.pairs(elements) + Self.cells(of: [self], at: [])
        case .text(let text): text.parts
        default: []
        }
    }

    /// The elements of an array; empty for other values.
    private var items: [JSONTree] { elements ?? [] }

    /// - Parameter names: those of the columns, if they have any.
    private static func cells(
        of rows: some Collection<JSONTree>, at way: [PathStep], _ names: [String]? = nil
    ) -> [MessagePart] {
        rows.flatMap { row in
            row.items.enumerated().map { index, cell in (way + [.index(index, name: names?[index])], cell) }
        }
    }

    // MARK: Objects

    /// The fields as they are; of tables, the cells with the names of their columns:
    /// `{"fields": ["city", "aqi"], "rows": [["Delhi", 301]]}`
    private static func members(_ fields: [JSONField]) -> [MessagePart] {
        // Each of many alike objects is found among the values.
        if areAlike(fields) { return [] }
        let legends = fields.compactMap(\.value.columnNames)
        return fields.filter { !FieldName($0.name).says(.otherTime) }.flatMap { field -> [MessagePart] in
            guard let names = legends.first(where: { field.value.isTable(width: $0.count) }) else {
                return [([.field(field.name)], field.value)]
            }
            return cells(of: field.value.items, at: [.field(field.name), .each], names)
        }
    }

    /// `{"Delhi": 301, "Pune": 51}`
    private static func entries(_ fields: [JSONField]) -> [MessagePart] {
        let places = fields.filter { field in
            let mayRead = field.value.isObject || field.value.elements != nil || field.value.index != nil
            return mayRead && FieldName(field.name).canBePlace
        }
        let names = Set(places.map(\.name))
        let otherFields = fields.filter { !names.contains($0.name) }
        // The numbers beside a field that names a place are about that place.
        let areNumbers = places.allSatisfy { $0.value.index != nil }
        if areNumbers, otherFields.contains(where: \.namesPlace) { return [] }
        let others = otherFields.map { [PathStep.field($0.name)].expression }
        // A single number among other fields is not a list of places.
        let isLikely = places.count > 1 || others.isEmpty || places.first?.value.isObject == true
        guard isLikely, others.count <= 8 else { return [] }
        var way = [PathStep.entries]
        if !others.isEmpty { way.insert(.filter("del(\(others.joined(separator: ", ")))"), at: 0) }
        return places.prefix(maximumEntries).flatMap { [(way + [.key], .text($0.name)), (way + [.value], $0.value)] }
    }

    /// Whether the fields are objects with the same two fields or more, and no other meaning, such as stations by ids.
    private static func areAlike(_ fields: [JSONField]) -> Bool {
        let names = Set(
            fields.map { field -> [String]? in
                if case .object(let inner) = field.value, inner.count > 1 { inner.map(\.name) } else { nil }
            })
        return fields.count > 1 && names.count == 1 && names != [nil]
            && fields.allSatisfy { FieldName($0.name).canBePlace }
    }

    /// `{"s1": {"name": "Delhi", "aqi": 301}, "s2": {"name": "Pune", "aqi": 51}}`
    private static func values(_ fields: [JSONField]) -> [MessagePart] {
        guard fields.count > 1, fields.allSatisfy({ $0.value.isObject }) else { return [] }
        return fields.prefix(maximumEntries).map { ([.values], $0.value) }
    }

    /// `{"city": ["Delhi", "Pune"], "aqi": [301, 51]}`
    private static func columns(_ fields: [JSONField]) -> [MessagePart] {
        guard let places = fields.first(where: { $0.value.arePlaces })?.value.elements else { return [] }
        let columns = fields.filter { $0.value.elements?.count == places.count }.prefix(maximumEntries)
        let names = columns.map { [PathStep.field($0.name)].expression }.joined(separator: ", ")
        let way = [PathStep.filter("[\(names)] | transpose[]")]
        return columns.enumerated().flatMap { index, column in
            column.value.items.map { (way + [.index(index, name: column.name)], $0) }
        }
    }

    /// `{"delhi_aqi": 301, "pune_aqi": 51}`, `{"aqi_delhi": 301}`
    private static func affixed(_ fields: [JSONField]) -> [MessagePart] {
        let city = #"(.key | sub("^aqi[^a-z0-9]*|[^a-z0-9]*aqi$"; ""; "i"))"#
        let code = #"to_entries[] | select(.key | test("^aqi|aqi$"; "i")) | {city: \#(city), aqi: .value}"#
        let parts = fields.compactMap { field -> MessagePart? in
            let name = field.name.lowercased()
            let city = name.replacing("aqi", with: "")
            guard field.value.index != nil, name.hasPrefix("aqi") || name.hasSuffix("aqi"), FieldName(city).canBePlace
            else { return nil }
            return ([.filter(code)], .object([JSONField("city", .text(city)), JSONField("aqi", field.value)]))
        }
        return parts.count > 1 || fields.count == 1 ? parts : []
    }

    // MARK: Arrays

    /// `[{"city": "Delhi", "aqi": 301}]`, `[["Delhi", "Pune"], [301, 51]]`, `[["city", "aqi"], ["Delhi", 301]]`
    private var lists: [MessagePart] {
        if items.count > 1, isTable(width: items[0].elements?.count ?? 0) {
            if items.contains(where: \.arePlaces), items.contains(where: { $0.items.allSatisfy(\.isNumber) }) {
                return items.enumerated().flatMap { index, column in
                    column.items.map { ([.filter("transpose[]"), .index(index)], $0) }
                }
            }
            if let names = items[0].columnNames {
                return Self.cells(of: items.dropFirst(), at: [PathStep(code: "[1:][]")], names)
            }
        }
        return items.map { ([.each], $0) }
    }

    /// `["Delhi", 301, "Pune", 51]`
    private static func pairs(_ elements: [JSONTree]) -> [MessagePart] {
        let isPairs = elements.indices.allSatisfy { index in
            index.isMultiple(of: 2) ? elements[index].text != nil : elements[index].isNumber
        }
        guard isPairs, elements.count > 3 else { return [] }
        let pair = PathStep.filter("range(0; length; 2) as $i | .[$i:$i + 2]")
        return elements.enumerated().map { ([pair, .index($0 % 2)], $1) }
    }

    // MARK: Kinds of values

    var isObject: Bool { if case .object = self { true } else { false } }

    /// The number, or the first one in a short text that is not a time. A comma counts as a decimal point.
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

    private var isList: Bool {
        (items.contains(where: \.isObject) && items.allSatisfy { $0.isObject || $0 == .null })
            || items.allSatisfy { $0.elements != nil }
            || items.allSatisfy { $0.text.map { !$0.parts.isEmpty } ?? false }
    }

    /// Whether it is an array of arrays of this length.
    private func isTable(width: Int) -> Bool { elements?.allSatisfy { $0.elements?.count == width } ?? false }

    private var arePlaces: Bool { !items.isEmpty && items.allSatisfy { $0.text.map(FieldName.isPlace) ?? false } }

    /// Column names: texts, or objects with a name each.
    private var columnNames: [String]? {
        guard let elements, !elements.isEmpty else { return nil }
        let names = elements.compactMap { element in
            element.text ?? ["name", "field", "text", "label", "id"].lazy.compactMap { element[$0]?.text }.first
        }
        return names.count == elements.count ? names : nil
    }
}

extension JSONField {
    /// Whether the field names a place.
    fileprivate var namesPlace: Bool {
        guard let rank = FieldName(name).ranks[.place] else { return false }
        return rank < 20 && value.text.map(FieldName.isPlace) == true
    }
}

extension String {
    /// The values in the text: JSON, the data of server-sent events, or `Delhi: 301`.
    fileprivate var parts: [MessagePart] {
        if "{[".contains(first { !$0.isWhitespace } ?? " "), let json = JSONTree(self)?.firstValues {
            return [([.filter("fromjson")], json)]
        }
        let data = split { $0 == "\n" || $0 == "\r\n" }.first { $0.hasPrefix("data:") }?.dropFirst(5)
        if let data, let json = JSONTree(String(data))?.firstValues {
            let events = #"split("\n")[] | select(startswith("data:")) | ltrimstr("data:") | fromjson"#
            return [([.filter(events)], json)]
        }
        let words = split(maxSplits: 1, omittingEmptySubsequences: false) { ":=;,|".contains($0) }
        guard words.count == 2, utf8.count <= 128 else { return [] }
        let name = String(words[0])
        let value = JSONTree.text(String(words[1].drop { $0 == " " }))
        guard FieldName.isPlace(name), FieldName(name).canBePlace, value.index != nil else { return [] }
        let entry = PathStep.filter(#"capture("^ *(?<key>[^:=;,|]+?) *[:=;,|] *(?<value>.+)")"#)
        return [([entry, .key], .text(name)), ([entry, .value], value)]
    }
}
