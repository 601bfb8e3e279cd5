public import Bytes

/// Which points a client of the history wants.
public struct HistoryQuery: Sendable, Equatable {
    /// Names, byte for byte; nil: all cities.
    public var cities: [[UInt8]]?
    /// The newest so many of each city; nil: all.
    public var limit: Int?
    /// Points later than this.
    public var since: Timestamp?

    public init() {}

    /// - Parameter query: the form-encoded part of the address behind `?`.
    public init(_ query: String) throws(QueryError) {
        for field in formFields(query) {
            guard let name = field.name else { throw QueryError("a parameter's name is not percent-encoded UTF-8") }
            var shownName: String { quoted(String(decoding: name, as: UTF8.self), limit: 64) }
            guard let value = field.value else {
                throw QueryError("the value of \(shownName) is not percent-encoded UTF-8")
            }
            guard let parameter = Parameter(rawValue: String(decoding: name, as: UTF8.self)) else {
                throw QueryError("unknown parameter \(shownName), expected city, limit or since")
            }
            switch parameter {
            case .city:
                guard !value.isEmpty else { throw QueryError("city is empty, expected a city's name") }
                cities = (cities ?? []) + [value]
            case .limit:
                guard limit == nil else { throw QueryError("limit is given twice") }
                guard let number = clampedNumber(value), number >= 1 else {
                    throw QueryError("limit", is: value, expected: "a whole number from 1 up")
                }
                limit = Int(clamping: number)
            case .since:
                guard since == nil else { throw QueryError("since is given twice") }
                guard let number = clampedNumber(value) else {
                    throw QueryError("since", is: value, expected: "milliseconds since the Unix epoch")
                }
                since = Timestamp(clamping: number)
            }
        }
    }

    private enum Parameter: String {
        case city, limit, since
    }
}

extension HistorySnapshot {
    /// Visits the cities that have points for a query, by name, with the indices of these points.
    ///
    /// - Returns: when what the query shows last changed.
    func forEachCity(of query: HistoryQuery, _ visit: (_ city: Int, _ shown: Range<Int>) -> Void) -> Timestamp {
        let wanted = query.cities.map(Set.init)
        // If all cities are shown, the expiry of a city changes the document. A restart does not change it, because the
        // restored points are the same.
        var changedAt = wanted == nil ? expiredAt ?? 0 : 0
        var isEmpty = true
        for run in order.sequence {
            for number in order.runs[Int(run)].cities {
                let city = Int(number)
                if let wanted, !wanted.contains(Array(names[states[city].nameRange])) { continue }
                let shown = histories[city].indices(query)
                guard !shown.isEmpty else { continue }
                visit(city, shown)
                changedAt = max(changedAt, histories[city].changedAt)
                isEmpty = false
            }
        }
        return isEmpty ? max(changedAt, startedAt) : changedAt
    }
}

extension History {
    /// Of the points that a query asks for.
    fileprivate func indices(_ query: HistoryQuery) -> Range<Int> {
        let first = max(0, count - (query.limit ?? count))
        return max(first, query.since.map { firstIndex(after: $0) } ?? 0)..<count
    }

    /// Of the first point later than that.
    func firstIndex(after time: Timestamp) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
