import AirQuality
import HTTPText

/// The view of the list that a query selects.
struct ListQuery {
    enum Sort: String, CaseIterable {
        /// Highest AQI first.
        case index
        case name
        /// Latest category change first.
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
    /// Part of a name, case-insensitive; empty = all cities.
    var search = ""
    /// Number of a category; `nil` = all.
    var category: UInt8?
    /// Page of the list, counted from 1. Values beyond the last page select it.
    var page = 1
    /// Whether to render a wall display: large, without controls.
    var isKiosk = false

    /// - Parameter query: the form-encoded query string, without `?`. Unknown parameters are ignored.
    init(_ query: String) throws(QueryError) {
        for parameter in QueryParameter.all(in: query) {
            switch parameter.name {
            case "sort": sort = try parameter.required(Sort(rawValue: parameter.text), "index, name or changed")
            case "search": search = try parameter.text
            case "category": category = try UInt8(parameter.number(in: 1...6, "a number from 1 to 6"))
            case "page": page = Int(clamping: try parameter.positive)
            case "kiosk": isKiosk = true
            default: continue
            }
        }
    }

    /// Returns the query of a link to the list with a change applied, on the first page unless the change sets another.
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

/// Returns the query of a link. `?` alone links to the page without a query; an empty link would keep the current one.
func queryLink(_ parts: [Markup?]) -> Markup {
    "?\(Markup(each: parts.compactMap(\.self).enumerated()) { "\("&amp;", if: $0 > 0)\($1)" })"
}
