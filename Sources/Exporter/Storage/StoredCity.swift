internal import AirQuality

/// The content of the file for one city.
struct StoredCity {
    /// Row id, never used for another city.
    let id: Int64
    /// Time of the last change of category.
    var changedAt: Timestamp?
    var newest: HistoryPoint?

    /// The points of a history that the file does not have, by their index; `nil` where the file has points that the
    /// history had to give up, because the clock was set back.
    func missingPoints(of history: History) -> Range<Int>? {
        guard let newest else { return 0..<history.count }
        let first = history.firstIndex(after: newest.time)
        guard first > 0 else { return 0..<history.count }
        guard history[first - 1].time == newest.time else { return nil }
        // A later reading of the same millisecond replaces the point.
        return (history[first - 1].index == newest.index ? first : first - 1)..<history.count
    }
}
