internal import Bytes
internal import CSQLite
internal import System

/// What was read from a file.
struct StorageContent: Sendable, Equatable {
    /// In the order in which they were first stored.
    var cities: [StoredCity] = []
    var scale: String?
    /// Rows and records whose values make no sense.
    var skippedRows = 0
    /// Points out of order can neither be found nor replaced. SQLite's quick check does not check the order of rows in a
    /// table without row numbers.
    var pointsAreInOrder = true
    /// Rows of points and records of the log, those included that are not needed any more.
    var recordCount = 0

    init() {}

    /// - Parameter version: of the file's schema.
    init(
        _ connection: borrowing SQLiteConnection, scale: String?, version: Int64 = StorageSchema.current.version,
        _ configuration: StorageConfiguration
    ) throws(SQLiteError) {
        self.scale = scale
        let numbers = try readRows(connection, configuration)
        if version >= StorageSchema.logVersion { try readLog(connection, numbers, configuration) }
        for place in cities.indices { cities[place].dropPoints(beyond: configuration.capacity) }
    }

    /// - Returns: the cities' numbers, ascending.
    private mutating func readRows(
        _ connection: borrowing SQLiteConnection, _ configuration: StorageConfiguration
    ) throws(SQLiteError) -> [Int64] {
        let cityRows = try connection.prepare(
            """
            SELECT id, name, aqi, updated_ms, received_ms, category, direction, changed_ms, better, worse
            FROM city ORDER BY id
            """)
        let pointRows = try connection.prepare("SELECT city, time_ms, aqi FROM point ORDER BY city, time_ms")
        var numbers: [Int64] = []
        // Both are sorted by the city's number, so one pass joins them.
        var hasPoint = try next(pointRows)
        while try cityRows.step() {
            let number = cityRows.integer(0)
            while hasPoint, pointRows.integer(0) < number {
                // A point of a city that does not exist.
                skippedRows += 1
                hasPoint = try next(pointRows)
            }
            var points: [StoredPoint] = []
            while hasPoint, pointRows.integer(0) == number {
                let point = StoredPoint(time: pointRows.integer(1), index: pointRows.double(2))
                if let last = points.last, last.time >= point.time { pointsAreInOrder = false }
                if point.isPlausible(within: configuration.limits) { points.append(point) } else { skippedRows += 1 }
                hasPoint = try next(pointRows)
            }
            guard var city = StoredCity(cityRows), city.isPlausible(within: configuration.limits) else {
                skippedRows += 1 + points.count
                continue
            }
            city.points = points
            cities.append(city)
            numbers.append(number)
        }
        while hasPoint {
            skippedRows += 1
            hasPoint = try next(pointRows)
        }
        return numbers
    }

    private mutating func next(_ pointRows: borrowing SQLiteStatement) throws(SQLiteError) -> Bool {
        let hasPoint = try pointRows.step()
        if hasPoint { recordCount += 1 }
        return hasPoint
    }

    // MARK: The log

    /// What the log says goes on top of the rows.
    private mutating func readLog(
        _ connection: borrowing SQLiteConnection, _ numbers: [Int64], _ configuration: StorageConfiguration
    ) throws(SQLiteError) {
        var rows = cities
        // Drop the second reference to each array of points, or adding a point would copy the array.
        for index in rows.indices { rows[index].points = [] }
        /// Records of cities that do not exist.
        var orphans: [Int64: Int] = [:]
        let log = try connection.prepare("SELECT records FROM log ORDER BY id")
        while try log.step() {
            guard var reader = StorageLogReader(log.bytes(0)) else {
                skippedRows += 1
                continue
            }
            while let record = reader.next() {
                recordCount += 1
                switch record {
                case .countersBeginAnew: forgetCounters()
                case .removal(let number):
                    orphans[number] = nil
                    // If the number is in use, it has been given to another city: start again from that city's row.
                    guard let place = place(of: number, in: numbers) else { continue }
                    cities[place] = rows[place]
                case .reading(let number, let reading):
                    guard let place = place(of: number, in: numbers) else {
                        orphans[number, default: 0] += 1
                        continue
                    }
                    if !cities[place].take(reading, within: configuration.limits) { skippedRows += 1 }
                    if cities[place].points.count >= 2 * configuration.capacity {
                        cities[place].dropPoints(beyond: configuration.capacity)
                    }
                }
            }
            if !reader.isAtEnd { skippedRows += 1 }
        }
        skippedRows += orphans.values.reduce(0, +)
    }

    private func place(of number: Int64, in numbers: [Int64]) -> Int? {
        guard let first = numbers.first, number >= first else { return nil }
        // Where it is while no city has gone.
        let guess = number &- first
        if guess < Int64(numbers.count), numbers[Int(guess)] == number { return Int(guess) }
        var (low, high) = (0, min(numbers.count, Int(clamping: guess)))
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < numbers.count && numbers[low] == number ? low : nil
    }

    mutating func forgetCounters() {
        for index in cities.indices {
            cities[index].better = 0
            cities[index].worse = 0
        }
    }
}

extension StorageContent {
    /// What can be read of a file that cannot be written, and of its journal.
    ///
    /// Counters restart at 0: they cannot be saved, and the next start must not restore old values.
    static func ofReadOnlyFile(_ configuration: StorageConfiguration) -> StorageContent {
        let path = resolvedPath(configuration.path)
        // Without a journal, SQLite would create one unless the file is declared immutable. With a journal, it would lock
        // the file for writing unless locks are switched off.
        let option = FileIdentity(path + "-wal") == nil ? "immutable=1" : "vfs=unix-none"
        do throws(SQLiteError) {
            let address = "file:\(percentEncoded(path.utf8, keepsSlashes: true))?\(option)"
            let connection = try SQLiteConnection(name: address, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            try StorageDatabase.configure(connection)
            let applicationID = try connection.integer("PRAGMA application_id")
            guard try StorageDatabase.refusal(of: connection, applicationID: applicationID, schema: .current) == nil
            else { return StorageContent() }
            let version = try connection.integer("PRAGMA user_version")
            let scale = try connection.text("SELECT value FROM setting WHERE name = 'scale'")
            var content = try StorageContent(connection, scale: scale, version: version, configuration)
            content.forgetCounters()
            return content.pointsAreInOrder ? content : StorageContent()
        } catch {
            return StorageContent()
        }
    }
}

extension StoredCity {
    /// Nil when a value does not fit its type.
    fileprivate init?(_ row: borrowing SQLiteStatement) {
        guard let category = UInt8(exactly: row.integer(5)), let direction = Int8(exactly: row.integer(6)),
            let better = UInt64(exactly: row.integer(8)), let worse = UInt64(exactly: row.integer(9))
        else { return nil }
        self.init(
            name: row.bytes(1), index: row.double(2), updatedAt: row.integer(3), receivedAt: row.integer(4),
            category: category, direction: direction, changedAt: row.isNull(7) ? nil : row.integer(7), better: better,
            worse: worse)
    }

    /// - Returns: false when it makes no sense; then nothing has changed.
    fileprivate mutating func take(_ reading: StoredReading, within limits: StorageLimits) -> Bool {
        let point = StoredPoint(time: reading.time, index: reading.index)
        guard point.isPlausible(within: limits) else { return false }
        if let receivedAt = reading.receivedAt {
            var city = self
            city.index = reading.index
            city.updatedAt = reading.time
            city.receivedAt = receivedAt
            if let changes = reading.changes { city.take(changes) }
            guard city.isPlausible(within: limits) else { return false }
            self = city
        }
        if reading.isPoint {
            // Memory dropped later ones when the clock was set back; else they are written once more behind this one.
            while let last = points.last, last.time >= point.time { points.removeLast() }
            points.append(point)
        }
        return true
    }

    private mutating func take(_ changes: StoredReading.Changes) {
        category = changes.category
        direction = changes.direction
        changedAt = changes.changedAt
        better = changes.better
        worse = changes.worse
    }

    fileprivate mutating func dropPoints(beyond capacity: Int) {
        if points.count > capacity { points.removeFirst(points.count - capacity) }
    }
}
