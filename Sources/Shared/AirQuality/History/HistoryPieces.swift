import Bytes

/// The history document in pieces, each made when it is asked for, so that a large document needs little memory: only a
/// run of its points, oldest first, is taken from the store and sorted at a time.
///
/// The document contains only points that existed when it was selected. A point that is pushed out of its city's full
/// history before it is written is missing; this happens only if the download takes longer than the points are old.
public struct HistoryPieces: Sendable {
    private let store: ReadingStore
    private let selection: HistorySelection
    /// Of the runs that are left, latest first.
    private var ends: [Timestamp]
    /// The last time of the run under way.
    private var end = Timestamp.min
    private var rows: [HistoryDocument.Row] = []
    private var nextRow = 0
    private var writer = HistoryDocument.RowWriter()
    private var hasBegun = false
    private var isOver = false

    /// Points of a run: a few milliseconds of work, and 24 bytes for each.
    static let runLength = 50_000

    public init(_ store: ReadingStore, _ selection: HistorySelection) {
        self.init(store, selection, runLength: Self.runLength)
    }

    init(_ store: ReadingStore, _ selection: HistorySelection, runLength: Int) {
        self.store = store
        self.selection = selection
        ends = selection.ends(runLength: runLength).reversed()
    }

    /// The next piece, a little more than so many bytes; nil after the last.
    public mutating func next(bytes: Int) -> [UInt8]? {
        guard !isOver else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(bytes + 1024)
        if !hasBegun {
            HistoryDocument.appendBeginning(to: &text, changedAt: selection.changedAt, rules: store.rules)
            hasBegun = true
        }
        while text.count < bytes {
            guard nextRow < rows.count else {
                if beginRun() { continue }
                text.append(HistoryDocument.end)
                isOver = true
                rows = []
                break
            }
            let row = rows[nextRow]
            writer.append(row, city: selection.escapedName(of: selection.cities[Int(row.place)]), to: &text)
            nextRow += 1
        }
        return text
    }

    /// False after the last.
    private mutating func beginRun() -> Bool {
        guard let end = ends.popLast() else { return false }
        let snapshot = store.historySnapshot()
        rows.removeAll(keepingCapacity: true)
        nextRow = 0
        for (place, city) in selection.cities.enumerated() {
            guard city.times.upperBound > self.end, city.times.lowerBound <= end else { continue }
            // Skip a city that has expired in the meantime: its number may belong to another city now.
            guard selection.isStill(city, in: snapshot) else { continue }
            let history = snapshot.histories[Int(city.number)]
            let last = min(end, city.times.upperBound)
            for index in history.firstIndex(after: max(self.end, city.times.lowerBound - 1))..<history.count {
                let point = history[index]
                guard point.time <= last else { break }
                rows.append(
                    HistoryDocument.Row(
                        time: point.time, place: UInt32(place), category: point.category, index: point.index))
            }
        }
        rows.sort(by: HistoryDocument.Row.precedes)
        self.end = end
        return true
    }
}
