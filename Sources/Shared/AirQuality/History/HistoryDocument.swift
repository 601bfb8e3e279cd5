import Bytes

/// The JSON of the history.
public enum HistoryDocument {
    /// Points of all wanted cities in one flat array, by time and then by name: tools that turn it into one series per
    /// city want it so. A function of the points: equal points give equal bytes.
    public static func render(_ store: ReadingStore, query: HistoryQuery = HistoryQuery()) -> [UInt8] {
        render(store.historySnapshot(), rules: store.rules, query: query)
    }

    /// A point on its way into the document.
    struct Row: Sendable {
        var time: Timestamp
        /// The city's place among the shown ones, which are sorted by name.
        var place: UInt32
        var category: UInt8
        var index: Double

        /// The document's order.
        static func precedes(_ one: Row, _ other: Row) -> Bool {
            one.time != other.time ? one.time < other.time : one.place < other.place
        }
    }

    private static func render(_ snapshot: HistorySnapshot, rules: StoreRules, query: HistoryQuery) -> [UInt8] {
        var names: [[UInt8]] = []
        var rows: [Row] = []
        let changedAt = snapshot.forEachCity(of: query) { city, shown in
            let history = snapshot.histories[city]
            for index in shown {
                let point = history[index]
                rows.append(
                    Row(time: point.time, place: UInt32(names.count), category: point.category, index: point.index))
            }
            names.append(jsonEscaped(snapshot.names.bytes.span.extracting(snapshot.states[city].nameRange)))
        }
        rows.sort(by: Row.precedes)
        var text: [UInt8] = []
        text.reserveCapacity(1024 + rows.count * 128)
        appendBeginning(to: &text, changedAt: changedAt, rules: rules)
        var writer = RowWriter()
        for row in rows { writer.append(row, city: names[Int(row.place)], to: &text) }
        text.append(end)
        return text
    }

    static func appendBeginning(to text: inout [UInt8], changedAt: Timestamp, rules: StoreRules) {
        text.append("{\"generated_at\":\"")
        text.appendRFC3339(changedAt)
        text.append("\",\"capacity\":")
        text.appendInteger(UInt64(rules.history.capacity))
        text.append(",\"interval_seconds\":")
        text.appendNumber(Double(rules.history.interval) / 1000)
        text.append(",\"scale\":{\"name\":\"")
        text.append(rules.scale.name)
        text.append("\",\"categories\":[")
        for category in rules.scale.categories {
            text.append(category.number == 1 ? "\n{\"category\":" : ",\n{\"category\":")
            text.appendInteger(UInt64(category.number))
            text.append(",\"name\":\"\(category.name)\",\"from\":")
            text.appendNumber(category.from)
            text.append(",\"color\":\"\(category.color)\",\"face\":\"\(category.face)\"}")
        }
        text.append("]},\"points\":[")
    }

    static let end = "]}\n"

    /// Writes one point after the other.
    struct RowWriter: Sendable {
        private var isFirst = true
        // Points come in runs of one time, so its text is made once for each.
        private var time: (value: Timestamp, text: [UInt8])?

        /// - Parameter city: its name, escaped.
        mutating func append(_ row: Row, city: [UInt8], to text: inout [UInt8]) {
            if time?.value != row.time {
                var bytes: [UInt8] = []
                bytes.appendRFC3339(row.time)
                bytes.append("\",\"time_ms\":")
                bytes.appendInteger(UInt64(clamping: row.time))
                bytes.append(",\"city\":\"")
                time = (row.time, bytes)
            }
            text.append(isFirst ? "\n{\"time\":\"" : ",\n{\"time\":\"")
            isFirst = false
            text.append(contentsOf: time?.text ?? [])
            text.append(contentsOf: city)
            text.append("\",\"aqi\":")
            text.appendDecimal(row.index)
            text.append(",\"category\":")
            text.appendInteger(UInt64(row.category))
            text.append("}")
        }
    }
}

extension HistoryDocument {
    /// A number that tells one document from another, the same in every process.
    public static func checksum(_ document: [UInt8]) -> UInt64 {
        ByteHash.hash(document.span, seed: 0)
    }
}
