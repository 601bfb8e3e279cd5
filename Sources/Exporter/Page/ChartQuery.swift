import AirQuality
import HTTPText

/// The view of a city's chart that a query selects.
struct ChartQuery {
    enum Style: String, CaseIterable { case line, bars }

    /// A period that ends now.
    enum Range: String, CaseIterable {
        case threeHours = "3h"
        case day = "24h"
        case week = "7d"

        var milliseconds: Int64 {
            switch self {
            case .threeHours: 10_800_000
            case .day: 86_400_000
            case .week: 604_800_000
            }
        }

        /// The range that a history must exceed for this one to show more than a few points at the edge.
        var shortestHistory: Range { self == .week ? .day : .threeHours }
    }

    var style = Style.line
    /// Milliseconds since the Unix epoch; `nil` = the first or last point.
    var from, to: Timestamp?
    /// Excludes `from` and `to`.
    var range: Range?

    /// - Parameter query: the form-encoded query string, without `?`. Unknown parameters are ignored.
    init(_ query: String) throws(QueryError) {
        for parameter in QueryParameter.all(in: query) {
            switch parameter.name {
            case "chart": style = try parameter.required(Style(rawValue: parameter.text), "line or bars")
            case "from": from = try parameter.time()
            case "to": to = try parameter.time()
            case "range": range = try parameter.required(Range(rawValue: parameter.text), "3h, 24h or 7d")
            default: continue
            }
        }
        if let range, from != nil || to != nil {
            throw QueryError("range=\(range.rawValue) is given with from or to, expected only one")
        }
        if let from, let to, from >= to { throw QueryError("from is \(from), expected less than to, which is \(to)") }
    }

    /// Whether the view may omit points.
    var isZoomed: Bool { from != nil || to != nil || range != nil }

    /// Returns the query of a link to the chart of the same period in another style.
    func link(style: Style) -> Markup {
        let query = queryLink([
            style == .line ? nil : "chart=\(style.rawValue)", from.map { "from=\($0)" }, to.map { "to=\($0)" },
            range.map { "range=\($0.rawValue)" },
        ])
        return "\(query)#chart"
    }

    /// Returns the query of a link to another period in the same style; by default all points.
    func link(range: Range? = nil, from: Timestamp? = nil, to: Timestamp? = nil) -> Markup {
        var other = self
        other.range = range
        other.from = from
        other.to = to
        return other.link(style: style)
    }
}
