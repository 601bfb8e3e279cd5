import AirQuality
public import HTTPText

/// The view of the list that a query asks for.
public struct ListQuery: Sendable, Equatable {
    public enum Sort: String, Sendable, CaseIterable {
        /// The highest index first.
        case index
        case name
        /// The latest change of category first.
        case changed

        var title: String {
            switch self {
            case .index: "Worst first"
            case .name: "By name"
            case .changed: "Last change"
            }
        }
    }

    public var sort = Sort.index
    /// Part of a name; empty: all cities.
    public var search: [UInt8] = []
    /// Number of a category; `nil`: all categories.
    public var category: UInt8?
    /// Page of the list, from 1 up; beyond the last page is the last one.
    public var page = 1
    /// Whether the list is for a screen on a wall: large, without what is there to be clicked.
    public var isKiosk = false

    public init() {}

    /// - Parameter query: the form-encoded part of the address behind `?`. Unknown parameters are ignored.
    public init(_ query: String) throws(QueryError) {
        for field in try parameters(query, onceEach: ["sort", "search", "category", "page"]) {
            switch field.name {
            case "sort": sort = try field.required(Sort(rawValue: field.text), "index, name or changed")
            case "search": search = try field.partOfName
            case "category": category = try UInt8(field.number(in: 1...6, "a number from 1 to 6"))
            case "page": page = Int(clamping: try field.positive)
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
        return queryLink([
            other.sort == .index ? nil : "sort=\(other.sort.rawValue)", other.category.map { "category=\($0)" },
            other.search.isEmpty ? nil : "search=\(percent: other.search[...])",
            other.page == 1 ? nil : "page=\(other.page)", other.isKiosk ? "kiosk" : nil,
        ])
    }
}

/// The query of a link. `?` alone links to the page without a query; an empty link would keep the current query.
func queryLink(_ parts: [Markup?]) -> Markup {
    "?\(Markup(each: parts.compactMap(\.self).enumerated()) { "\("&amp;", if: $0 > 0)\($1)" })"
}

/// The parameters of a query.
///
/// - Parameter names: those that may not come twice.
func parameters(_ query: String, onceEach names: [String]) throws(QueryError) -> [QueryParameter] {
    var parameters: [QueryParameter] = []
    for field in formFields(query) {
        guard let name = field.name, let value = field.value else {
            throw QueryError("a parameter is not percent-encoded UTF-8")
        }
        let parameter = QueryParameter(name: String(decoding: name, as: UTF8.self), value: value)
        if names.contains(parameter.name), parameters.contains(where: { $0.name == parameter.name }) {
            throw QueryError("\(parameter.name) is given twice")
        }
        parameters.append(parameter)
    }
    return parameters
}
