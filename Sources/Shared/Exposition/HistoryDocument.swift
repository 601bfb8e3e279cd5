public import AirQuality
internal import Bytes

/// The history as JSON: the points of all selected cities in one flat array ordered by time, then name, which tools
/// can split into one series per city. Equal points give equal bytes; the entity tag depends on it.
public struct HistoryDocument: Sendable {
    public private(set) var pointCount = 0
    private let snapshot: StoreSnapshot
    /// Sorted by name; only cities with matching points.
    private var cities: [(index: Int, points: Range<Int>)] = []
    private var changedAt: Timestamp = 0

    /// Selects the points of a snapshot with histories that match a query, without copying them.
    public init(_ snapshot: StoreSnapshot, query: HistoryQuery) {
        self.snapshot = snapshot
        let wanted = query.cities.map(Set.init)
        var found = 0
        for number in snapshot.states.indices {
            if let wanted, !wanted.contains(snapshot.states[number].name) { continue }
            found += 1
            let history = snapshot.histories[number]
            let count = history.points.count
            let firstWithinLimit = count - min(count, query.limit ?? .max)
            let firstAfterBound = query.since.map { history.firstIndex(after: $0) } ?? 0
            let points = max(firstWithinLimit, firstAfterBound)..<count
            if points.isEmpty { continue }
            cities.append((number, points))
            pointCount += points.count
            changedAt = max(changedAt, history.changedAt)
        }
        // A missing city may have expired. A restart is not a change: the restored points are the same.
        let isComplete = wanted.map { $0.count == found } ?? false
        if !isComplete { changedAt = max(changedAt, snapshot.expiredAt ?? 0) }
        if cities.isEmpty { changedAt = max(changedAt, snapshot.startedAt) }
    }

    /// Renders the document as UTF-8.
    public func render() -> [UInt8] {
        let scale = snapshot.rules.scale
        var rows: [(point: HistoryPoint, city: Int)] = []
        rows.reserveCapacity(pointCount)
        for (row, city) in cities.enumerated() {
            for point in snapshot.histories[city.index].points[city.points] { rows.append((point, row)) }
        }
        rows.sort { ($0.point.time, $0.city) < ($1.point.time, $1.city) }
        var text: [UInt8] = []
        text.reserveCapacity(2048 + pointCount * 128)
        appendBeginning(to: &text)
        // Runs of points share a time, so it is formatted once per run.
        var time: Timestamp?
        var timeText: [UInt8] = []
        for row in rows {
            text.append(time == nil ? "\n{\"time\":\"" : ",\n{\"time\":\"")
            if time != row.point.time { timeText = Self.text(of: row.point.time) }
            time = row.point.time
            text += timeText
            let name = snapshot.states[cities[row.city].index].name
            text.appendJSONString(name.span)
            text.append(",\"aqi\":")
            text.appendDecimal(row.point.aqi)
            text.append(",\"category\":")
            text.appendInteger(UInt64(scale.category(of: row.point.aqi)))
            text.append("}")
        }
        text.append("]}\n")
        return text
    }

    private static func text(of time: Timestamp) -> [UInt8] {
        var text: [UInt8] = []
        text.appendRFC3339(time)
        text.append("\",\"time_ms\":")
        text.appendInteger(UInt64(clamping: time))
        text.append(",\"city\":")
        return text
    }

    private func appendBeginning(to text: inout [UInt8]) {
        let rules = snapshot.rules
        text.append("{\"generated_at\":\"")
        text.appendRFC3339(changedAt)
        text.append("\",\"capacity\":\(rules.history.capacity),\"interval_seconds\":")
        text.appendNumber(Double(rules.history.interval) / 1000)
        text.append(",\"scale\":{\"name\":\"\(rules.scale.name)\",\"categories\":[")
        for category in rules.scale.categories {
            text.append(category.number == 1 ? "\n" : ",\n")
            text.append("{\"category\":\(category.number),\"name\":\"\(category.name)\",\"from\":")
            text.appendNumber(category.from)
            text.append(",\"color\":\"\(category.color)\",\"face\":\"\(category.face)\"}")
        }
        text.append("]},\"points\":[")
    }
}
