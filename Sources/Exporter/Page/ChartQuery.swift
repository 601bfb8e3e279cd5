public import AirQuality
public import HTTPText

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
    /// Milliseconds since the Unix epoch; `nil`: from the first point, to the last one.
    public var from, to: Timestamp?
    /// Instead of `from` and `to`.
    public var range: Range?
    public var isKiosk = false

    public init() {}

    /// - Parameter query: the form-encoded part of the address behind `?`. Unknown parameters are ignored.
    public init(_ query: String) throws(QueryError) {
        for field in try parameters(query, onceEach: ["chart", "from", "to", "range"]) {
            switch field.name {
            case "chart": style = try field.required(Style(rawValue: field.text), "line or bars")
            case "from": from = try field.time()
            case "to": to = try field.time()
            case "range": range = try field.required(Range(rawValue: field.text), "3h, 24h or 7d")
            case "kiosk": isKiosk = true
            default: continue
            }
        }
        if let range, from != nil || to != nil {
            throw QueryError("range=\(range.rawValue) beside from or to: expected one of them")
        }
        if let from, let to, from >= to { throw QueryError("from is \(from), expected less than to, which is \(to)") }
    }

    /// Whether less than all points may be in view.
    var isZoomed: Bool { from != nil || to != nil || range != nil }

    func link(_ change: (inout ChartQuery) -> Void) -> Markup {
        var other = self
        change(&other)
        return queryLink([
            other.style == .line ? nil : "chart=\(other.style.rawValue)", other.from.map { "from=\($0)" },
            other.to.map { "to=\($0)" }, other.range.map { "range=\($0.rawValue)" }, other.isKiosk ? "kiosk" : nil,
        ])
    }

    /// The query of a link to a time.
    func link(from: Timestamp, to: Timestamp) -> Markup {
        link {
            $0.from = max(0, from)
            $0.to = max(max(0, from) + 1, to)
            $0.range = nil
        }
    }

    /// The query of a link to a range; to all points if it is `nil`.
    func link(range: Range?) -> Markup {
        link {
            $0.from = nil
            $0.to = nil
            $0.range = range
        }
    }
}
