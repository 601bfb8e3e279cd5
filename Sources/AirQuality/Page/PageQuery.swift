import Bytes

/// What a reader of the list wants to see.
public struct ListQuery: Sendable, Equatable {
    public enum Sort: String, Sendable, CaseIterable {
        /// The highest index first.
        case index
        case name
        /// The latest change of category first.
        case changed
    }

    public var sort = Sort.index
    /// Part of a name; empty: all cities.
    public var search: [UInt8] = []
    /// nil: all categories.
    public var category: UInt8?
    /// From 1 up; beyond the last page is the last one.
    public var page = 1
    /// For a screen on a wall: large, without what is there to be clicked.
    public var isKiosk = false

    public init() {}

    /// - Parameter query: the form-encoded part of the address behind `?`. Parameters that the page does not know are
    ///   left to whoever added them.
    public init(_ query: String) throws(PageQueryFailure) {
        for field in try formFields(query) {
            switch field.name {
            case "sort":
                guard let sort = Sort(rawValue: field.text) else {
                    throw field.failure(expected: "index, name or changed")
                }
                self.sort = sort
            case "search":
                guard field.value.count <= CityName.maximumCount else {
                    throw field.failure(expected: "at most \(CityName.maximumCount) bytes")
                }
                search = field.value
            case "category":
                guard let number = field.number, (1...6).contains(number) else {
                    throw field.failure(expected: "a number from 1 to 6")
                }
                category = UInt8(number)
            case "page":
                guard let number = field.number, number >= 1 else {
                    throw field.failure(expected: "a whole number from 1 up")
                }
                page = Int(clamping: number)
            case "kiosk": isKiosk = true
            default: continue
            }
        }
    }

    /// The query of a link to the same list with something changed; the first page unless said otherwise.
    func link(_ change: (inout ListQuery) -> Void) -> Markup {
        var other = self
        other.page = 1
        change(&other)
        var parts: [Markup] = []
        if other.sort != .index { parts.append("sort=\(other.sort.rawValue)") }
        if let category = other.category { parts.append("category=\(category)") }
        if !other.search.isEmpty { parts.append("search=\(percent: other.search[...])") }
        if other.page > 1 { parts.append("page=\(other.page)") }
        if other.isKiosk { parts.append("kiosk") }
        return queryLink(parts)
    }
}

/// What a reader of a city's chart wants to see.
public struct ChartQuery: Sendable, Equatable {
    public enum Style: String, Sendable, CaseIterable {
        case line, bars
    }

    public var style = Style.line
    /// Milliseconds since the Unix epoch; nil: from the first point, to the last one.
    public var from, to: Timestamp?
    public var isKiosk = false

    public init() {}

    public init(_ query: String) throws(PageQueryFailure) {
        for field in try formFields(query) {
            switch field.name {
            case "chart":
                guard let style = Style(rawValue: field.text) else { throw field.failure(expected: "line or bars") }
                self.style = style
            case "from": from = try field.time
            case "to": to = try field.time
            case "kiosk": isKiosk = true
            default: continue
            }
        }
        if let from, let to, from >= to {
            throw PageQueryFailure(line: "query: from is \(from), expected less than to, which is \(to)")
        }
    }

    func link(_ change: (inout ChartQuery) -> Void) -> Markup {
        var other = self
        change(&other)
        var parts: [Markup] = []
        if other.style != .line { parts.append("chart=\(other.style.rawValue)") }
        if let from = other.from { parts.append("from=\(from)") }
        if let to = other.to { parts.append("to=\(to)") }
        if other.isKiosk { parts.append("kiosk") }
        return queryLink(parts)
    }
}

/// What was wrong with a query, in one line for the one who asked.
public struct PageQueryFailure: Error, Equatable {
    public var line: String
}

/// `?` alone is the page without a query; an empty link would keep the one that is there.
private func queryLink(_ parts: [Markup]) -> Markup {
    var link: Markup = "?"
    for (index, part) in parts.enumerated() { link += index == 0 ? part : "&amp;\(part)" }
    return link
}

/// One parameter.
private struct FormField {
    var name: String
    var value: [UInt8]

    var text: String { String(decoding: value, as: UTF8.self) }

    /// Digits alone; larger than 64 bits counts as the largest.
    var number: UInt64? {
        guard !value.isEmpty, value.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        return UInt64(text) ?? .max
    }

    var time: Timestamp {
        get throws(PageQueryFailure) {
            guard let number, let time = Timestamp(exactly: number), time < maximumTime else {
                throw failure(expected: "milliseconds since the Unix epoch")
            }
            return time
        }
    }

    func failure(expected: String) -> PageQueryFailure {
        PageQueryFailure(line: "query: \(name) is \(quoted(text, limit: 64)), expected \(expected)")
    }
}

/// Far enough away that a time and a difference of two never overflow.
private let maximumTime: Timestamp = 1 << 52

/// The parameters of a form-encoded query: `+` is a blank, `%41` is A.
private func formFields(_ query: String) throws(PageQueryFailure) -> [FormField] {
    var fields: [FormField] = []
    for pair in query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
        let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = decoded(parts[0]), let value = decoded(parts.count == 2 ? parts[1] : parts[0].prefix(0))
        else {
            throw PageQueryFailure(line: "query: a parameter is no percent-encoded UTF-8")
        }
        let field = FormField(name: String(decoding: name, as: UTF8.self), value: value)
        let isKnown = ["sort", "search", "category", "page", "chart", "from", "to"].contains(field.name)
        if isKnown, fields.contains(where: { $0.name == field.name }) {
            throw PageQueryFailure(line: "query: \(field.name) stands twice")
        }
        fields.append(field)
    }
    return fields
}

/// nil for bad escapes and for what is no UTF-8 then.
private func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
    guard let bytes = percentDecoded(text, plusIsBlank: true) else { return nil }
    return String(validating: bytes, as: UTF8.self) == nil ? nil : bytes
}
