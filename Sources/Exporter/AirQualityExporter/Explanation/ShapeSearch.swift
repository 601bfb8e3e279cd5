import Bytes
import JSON

/// A plan to read a message, and how likely it is the right one.
struct Candidate {
    var plan: ReadingPlan
    var score: Int
}

/// A number in a message that may be an index, and the way to it.
struct NumberLeaf {
    var steps: [PathStep]
    /// The values on the way: the message first, the number last.
    var values: [JSONTree]

    /// Whether the value is a text around a number, such as `183 µg/m³` or `57,3`.
    var isText: Bool {
        guard case .text(let text) = values[values.count - 1] else { return false }
        return jsonNumber(Array(text.utf8).span) == nil
    }

    /// The names of the fields on the way, the nearest first, without the one at `except`.
    func names(except: Int? = nil) -> [String] {
        steps.indices.reversed().compactMap { place in
            if case .field(let name) = steps[place], place != except { name } else { nil }
        }
    }
}

/// Looks through a message for numbers that may be indices, and makes plans to read them.
struct ShapeSearch {
    /// Values that are looked at.
    static let maximumValues = 20_000
    static let maximumLeaves = 120
    static let maximumDepth = 12

    private(set) var leaves: [NumberLeaf] = []
    /// Arrays and objects with the ways to them, for those who look for tables.
    private(set) var containers: [(steps: [PathStep], value: JSONTree)] = []
    private var count = 0

    init(_ message: JSONTree) { visit(message, [], [message]) }

    private mutating func visit(_ value: JSONTree, _ steps: [PathStep], _ values: [JSONTree]) {
        count += 1
        guard count <= Self.maximumValues, steps.count <= Self.maximumDepth else { return }
        func descend(_ step: PathStep, _ next: JSONTree, in search: inout ShapeSearch) {
            search.visit(next, steps + [step], values + [next])
        }
        switch value {
        case .null, .boolean: return
        case .number: add(NumberLeaf(steps: steps, values: values))
        case .text(let text):
            let start = text.unicodeScalars.first { !$0.properties.isWhitespace }
            if start == "{" || start == "[", let inner = JSONTree(text) { return descend(.decoded, inner, in: &self) }
            if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("data:") }),
                let inner = JSONTree(String(line.dropFirst(5)))
            {
                return descend(.events, inner, in: &self)
            }
            add(NumberLeaf(steps: steps, values: values))
        case .object(let fields):
            containers.append((steps, value))
            for field in fields { descend(.field(field.name), field.value, in: &self) }
            guard Self.areAlike(fields) else { return }
            for field in fields.prefix(40) { descend(.values, field.value, in: &self) }
        case .array(let elements):
            containers.append((steps, value))
            let isList =
                elements.allSatisfy(\.isObject) || (elements.count > 1 && elements.allSatisfy(\.isArray))
                || (elements.contains(where: \.isObject) && elements.allSatisfy { $0.isObject || $0 == .null })
            for (index, element) in elements.prefix(isList ? 40 : 12).enumerated() {
                descend(isList ? .each : .index(index), element, in: &self)
            }
        }
    }

    /// Whether the fields are objects with a field in common: `{"s1": {"name": "Delhi"}, "s2": {"name": "Pune"}}`.
    private static func areAlike(_ fields: [JSONField]) -> Bool {
        guard fields.count > 1, case .object(let first) = fields[0].value else { return false }
        return first.contains { name in fields.allSatisfy { $0.value[name.name] != nil } }
    }

    private mutating func add(_ leaf: NumberLeaf) {
        guard leaves.count < Self.maximumLeaves, let number = leaf.values[leaf.values.count - 1].index else { return }
        guard (0...9999).contains(number) else { return }
        if leaf.isText, !leaf.names().prefix(2).contains(where: FieldNames.isIndex) { return }
        leaves.append(leaf)
    }
}

extension JSONTree {
    var isObject: Bool { if case .object = self { true } else { false } }
    var isArray: Bool { if case .array = self { true } else { false } }
    var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The number, or the first one in a text.
    var index: Double? {
        switch self {
        case .number(let text): return jsonNumber(Array(text.utf8).span)
        case .text(let text):
            if let number = jsonNumber(Array(text.utf8).span) { return number }
            let digits = text.drop { !("0"..."9").contains($0) }
                .prefix { ("0"..."9").contains($0) || $0 == "." || $0 == "," }
            guard text.utf8.count <= 40, text.filter({ $0 == "-" || $0 == ":" }).count < 2 else { return nil }
            return Double(digits.replacing(",", with: "."))
        default: return nil
        }
    }
}
