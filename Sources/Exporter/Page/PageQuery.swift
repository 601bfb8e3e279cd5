public import AirQuality
internal import Bytes
public import HTTPText

/// The view of the list that a query asks for.
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
    /// With the cities on a map above the list, where it is known where they are.
    public var hasMap = false

    public init() {}

    /// - Parameter query: the form-encoded part of the address behind `?`. Unknown parameters are ignored.
    public init(_ query: String) throws(QueryError) {
        for field in try parameters(query) {
            switch field.name {
            case "sort": sort = try field.required(Sort(rawValue: field.text), "index, name or changed")
            case "search": search = try field.partOfName
            case "category":
                category = try UInt8(field.number(in: 1...6, "a number from 1 to 6"))
            case "page": page = Int(clamping: try field.positive)
            case "kiosk": isKiosk = true
            case "map": hasMap = true
            default: continue
            }
        }
    }

    /// The query of a link to the same list with something changed; the first page unless said otherwise.
    func link(_ change: (inout ListQuery) -> Void) -> Markup {
        var other = self
        other.page = 1
        change(&other)
        return queryLink([
            other.sort == .index ? nil : "sort=\(other.sort.rawValue)", other.category.map { "category=\($0)" },
            other.search.isEmpty ? nil : "search=\(percent: other.search[...])",
            other.page == 1 ? nil : "page=\(other.page)", other.isKiosk ? "kiosk" : nil, other.hasMap ? "map" : nil,
        ])
    }
}

/// The view of a city's chart that a query asks for.
public struct ChartQuery: Sendable, Equatable {
    public enum Style: String, Sendable, CaseIterable { case line, bars }

    /// A time until now.
    public enum Range: String, Sendable, CaseIterable {
        case threeHours = "3h"
        case day = "24h"
        case week = "7d"

        var milliseconds: Int64 {
            switch self {
            case .threeHours: 3 * 3_600_000
            case .day: 24 * 3_600_000
            case .week: 7 * 24 * 3_600_000
            }
        }

        var title: String {
            switch self {
            case .threeHours: "3 hours"
            case .day: "24 hours"
            case .week: "7 days"
            }
        }
    }

    public var style = Style.line
    /// Milliseconds since the Unix epoch; nil: from the first point, to the last one.
    public var from, to: Timestamp?
    /// Instead of `from` and `to`.
    public var range: Range?
    /// The name of a city to draw in the same chart; empty: none.
    public var other: [UInt8] = []
    public var isKiosk = false

    public init() {}

    public init(_ query: String) throws(QueryError) {
        for field in try parameters(query) {
            switch field.name {
            case "chart": style = try field.required(Style(rawValue: field.text), "line or bars")
            case "from": from = try field.time()
            case "to": to = try field.time()
            case "range": range = try field.required(Range(rawValue: field.text), "3h, 24h or 7d")
            case "compare": other = try field.partOfName
            case "kiosk": isKiosk = true
            default: continue
            }
        }
        if let range, from != nil || to != nil {
            throw QueryError("range=\(range.rawValue) beside from or to: expected one of them")
        }
        if let from, let to, from >= to { throw QueryError("from is \(from), expected less than to, which is \(to)") }
    }

    func link(_ change: (inout ChartQuery) -> Void) -> Markup {
        var other = self
        change(&other)
        return queryLink([
            other.style == .line ? nil : "chart=\(other.style.rawValue)", other.from.map { "from=\($0)" },
            other.to.map { "to=\($0)" }, other.range.map { "range=\($0.rawValue)" },
            other.other.isEmpty ? nil : "compare=\(percent: other.other[...])", other.isKiosk ? "kiosk" : nil,
        ])
    }
}

/// `?` alone links to the page without a query; an empty link would keep the current query.
private func queryLink(_ parts: [Markup?]) -> Markup {
    "?\(Markup(each: parts.compactMap(\.self).enumerated()) { "\("&amp;", if: $0 > 0)\($1)" })"
}

private func parameters(_ query: String) throws(QueryError) -> [QueryParameter] {
    var parameters: [QueryParameter] = []
    for field in formFields(query) {
        guard let name = field.name, let value = field.value else {
            throw QueryError("a parameter is not percent-encoded UTF-8")
        }
        let parameter = QueryParameter(name: String(decoding: name, as: UTF8.self), value: value)
        let known = ["sort", "search", "category", "page", "chart", "from", "to", "range", "compare"]
        if known.contains(parameter.name), parameters.contains(where: { $0.name == parameter.name }) {
            throw QueryError("\(parameter.name) is given twice")
        }
        parameters.append(parameter)
    }
    return parameters
}
