internal import AirQuality

/// The statements that write rows, in a transaction of the caller's.
struct StorageRows: ~Copyable {
    private let city: SQLiteStatement
    private let cityRemoval: SQLiteStatement
    private let reading: SQLiteStatement

    init(_ connection: borrowing SQLiteConnection) throws(StorageError) {
        let city = try connection.prepare("INSERT OR REPLACE INTO city VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        let cityRemoval = try connection.prepare("DELETE FROM city WHERE id = ?")
        let reading = try connection.prepare("INSERT OR REPLACE INTO reading VALUES (?, ?, ?)")
        self.city = city
        self.cityRemoval = cityRemoval
        self.reading = reading
    }

    /// - Parameter isLast: whether the counters and the current reading are written too, which hold until the next
    ///   start.
    func write(_ state: CityState, id: Int64, scale: String, isLast: Bool) throws(StorageError) {
        let changes = state.changes
        try city.run(
            .integer(id), .text(state.name), .text(Array(scale.utf8)), .integer(Int64(changes.direction)),
            .integer(changes.changedAt), .integer(isLast ? Int64(clamping: changes.better) : nil),
            .integer(isLast ? Int64(clamping: changes.worse) : nil), .real(isLast ? state.index : nil),
            .integer(isLast ? state.updatedAt : nil), .integer(isLast ? state.receivedAt : nil))
    }

    func write(_ point: HistoryPoint, city: Int64) throws(StorageError) {
        try reading.run(.integer(point.time), .integer(city), .real(point.index))
    }

    /// Removes a city; its readings go with the next eviction.
    func removeCity(_ id: Int64) throws(StorageError) { try cityRemoval.run(.integer(id)) }
}
