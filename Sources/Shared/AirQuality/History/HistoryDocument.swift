import Bytes

/// The JSON of the history: the points of all wanted cities in one flat array, by time and then by name, because tools that
/// turn it into one series per city want it so. A function of the points: equal points give equal bytes.
///
/// It is made in pieces, each when it is asked for, so that a large document needs little memory: only a run of its
/// points, oldest first, is taken from the store and sorted at a time.
///
/// The document contains only points that existed when it was selected. A point that is pushed out of its city's full
/// history before it is written is missing; this happens only if the download takes longer than the points are old.
public struct HistoryDocument: Sendable {
    private let store: ReadingStore
    private let selection: HistorySelection
    /// Of the runs that are left, latest first.
    private var ends: [Timestamp]
    /// The last time of the run under way.
    private var end = Timestamp.min
    /// A document of one run is that of the selection's own moment.
    private var snapshot: StoreSnapshot?
    private var rows: [Row] = []
    private var nextRow = 0
    private var hasBegun = false
    private var isOver = false
    /// Points come in runs of one time, so its text is made once for each.
    private var time: (value: Timestamp, text: [UInt8])?

    /// A point on its way into the document.
    private struct Row: Sendable {
        var point: HistoryPoint
        /// The city's place among the shown ones, which are sorted by name.
        var place: UInt32
    }

    /// - Parameter runLength: points of a run: a few milliseconds of work, and 24 bytes for each.
    public init(_ store: ReadingStore, _ selection: consuming HistorySelection, runLength: Int = 20_000) {
        self.store = store
        ends = selection.ends(runLength: runLength).reversed()
        let snapshot = selection.snapshot.take()
        if ends.count == 1 { self.snapshot = snapshot }
        self.selection = selection
    }

    /// The whole document.
    public static func render(_ store: ReadingStore, query: HistoryQuery = HistoryQuery()) -> [UInt8] {
        var document = HistoryDocument(store, HistorySelection(store, query: query), runLength: .max)
        return document.next(bytes: .max) ?? []
    }

    /// The next piece, a little more than so many bytes; nil after the last.
    public mutating func next(bytes: Int) -> [UInt8]? {
        guard !isOver else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(1024 + min(bytes, selection.pointCount * 128))
        if !hasBegun {
            appendBeginning(to: &text)
            hasBegun = true
        }
        while text.count < bytes {
            if nextRow < rows.count {
                append(rows[nextRow], to: &text)
                nextRow += 1
            } else if !beginRun() {
                text.append("]}\n")
                isOver = true
                rows = []
                break
            }
        }
        return text
    }

    /// False after the last.
    private mutating func beginRun() -> Bool {
        guard let end = ends.popLast() else { return false }
        let snapshot = snapshot.take() ?? store.snapshot(withHistories: true)
        rows.removeAll(keepingCapacity: true)
        nextRow = 0
        for (place, city) in selection.cities.enumerated() {
            guard city.times.upperBound > self.end, city.times.lowerBound <= end else { continue }
            // Skip a city that has expired in the meantime: its number may belong to another city now.
            guard snapshot.states.insertion(of: city.number) == city.insertion else { continue }
            let history = snapshot.histories[city.number]
            let last = min(end, city.times.upperBound)
            for index in history.firstIndex(after: max(self.end, city.times.lowerBound - 1))..<history.count {
                let point = history[index]
                guard point.time <= last else { break }
                rows.append(Row(point: point, place: UInt32(place)))
            }
        }
        rows.sort { ($0.point.time, $0.place) < ($1.point.time, $1.place) }
        self.end = end
        return true
    }

    private func appendBeginning(to text: inout [UInt8]) {
        let rules = store.rules
        text.append("{\"generated_at\":\"")
        text.appendRFC3339(selection.changedAt)
        text.append("\",\"capacity\":")
        text.appendInteger(UInt64(rules.history.capacity))
        text.append(",\"interval_seconds\":")
        text.appendNumber(Double(rules.history.interval) / 1000)
        text.append(",\"scale\":{\"name\":\"")
        text.append(rules.scale.name)
        text.append("\",\"categories\":[")
        for category in rules.scale.categories {
            text.append(category.number == 1 ? "\n" : ",\n")
            text.append("{\"category\":\(category.number),\"name\":\"\(category.name)\",\"from\":")
            text.appendNumber(category.from)
            text.append(",\"color\":\"\(category.color)\",\"face\":\"\(category.face)\"}")
        }
        text.append("]},\"points\":[")
    }

    private mutating func append(_ row: Row, to text: inout [UInt8]) {
        let (point, city) = (row.point, selection.cities[Int(row.place)])
        let isFirst = time == nil
        if time?.value != point.time {
            var bytes: [UInt8] = []
            bytes.appendRFC3339(point.time)
            bytes.append("\",\"time_ms\":")
            bytes.appendInteger(UInt64(clamping: point.time))
            bytes.append(",\"city\":\"")
            time = (point.time, bytes)
        }
        text.append(isFirst ? "\n{\"time\":\"" : ",\n{\"time\":\"")
        text.append(contentsOf: time?.text ?? [])
        text.appendJSONEscaped(selection.names[city.name].span)
        text.append("\",\"aqi\":")
        text.appendDecimal(point.index)
        text.append(",\"category\":")
        text.appendInteger(UInt64(point.category))
        text.append("}")
    }
}
