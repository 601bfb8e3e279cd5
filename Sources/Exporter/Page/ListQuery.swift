import AirQuality
import HTTPText

/// The view of the list that a query asks for.
struct ListQuery {
    enum Sort: String, CaseIterable {
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

    var sort = Sort.index
    /// Part of a name, in any case; empty: all cities.
    var search = ""
    /// Number of a category; `nil`: all categories.
    var category: UInt8?
    /// Page of the list, from 1 up; beyond the last page is the last one.
    var page = 1
    /// Whether the list is for a screen on a wall: large, without what is there to be clicked.
    var isKiosk = false

    /// - Parameter query: the form-encoded part of the address behind `?`. Unknown parameters are ignored.
    init(_ query: String) throws(QueryError) {
        for parameter in try QueryParameter.all(in: query) {
            switch parameter.name {
            case "sort": sort = try parameter.required(Sort(rawValue: parameter.text), "index, name or changed")
            case "search": search = parameter.text
            case "category": category = try UInt8(parameter.number(in: 1...6, "a number from 1 to 6"))
            case "page": page = Int(clamping: try parameter.positive)
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
            other.search.isEmpty ? nil : "search=\(percent: Array(other.search.utf8)[...])",
            other.page == 1 ? nil : "page=\(other.page)", other.isKiosk ? "kiosk" : nil,
        ])
    }
}

/// The query of a link. `?` alone links to the page without a query; an empty link would keep the current query.
func queryLink(_ parts: [Markup?]) -> Markup {
    "?\(Markup(each: parts.compactMap(\.self).enumerated()) { "\("&amp;", if: $0 > 0)\($1)" })"
}
