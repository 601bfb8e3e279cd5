internal import AirQuality
internal import Bytes
internal import CSQLite
internal import System

/// Content read from a file.
struct StorageContent: Sendable {
    /// Those that make sense, by id.
    var cities: [City] = []
    /// The scale of their categories.
    var scale: String?
    /// Rows whose values make no sense.
    var skippedRows = 0
    /// The newest reading of a city that is gone; nil where there is none.
    var orphansUntil: Timestamp?
    /// Over all values, in order.
    var checksum: UInt64 = 0
    /// Readings out of order can neither be found nor replaced. SQLite's quick check does not check the order of rows in
    /// a table without row numbers.
    var isInOrder = true

    init() {}

    /// - Parameter capacity: Of each city at most this many points, the newest.
    init(_ connection: borrowing SQLiteConnection, _ schema: StorageSchema, capacity: Int) throws(StorageError) {
        scale = try connection.text("SELECT value FROM setting WHERE name = 'scale'")
        /// By the city's id; nil for one that makes no sense.
        var places: [Int64: Int?] = [:]
        /// Whether the current reading of each city is a row of its own.
        var hasCurrent: [Bool] = []
        var last = StoredKey.first
        checksum = try Self.scan(connection, schema) { row in
            guard let city = City(row) else {
                skippedRows += 1
                places[row.id] = .some(nil)
                return
            }
            places[row.id] = cities.count
            cities.append(city)
            hasCurrent.append(false)
        } reading: { key, reading in
            if schema.version > 1, key.time < last.time || key.time == last.time && key.city <= last.city {
                isInOrder = false
            }
            last = key
            guard let place = places[key.city] else {
                orphansUntil = max(orphansUntil ?? .min, key.time)
                return
            }
            guard let place, reading.isPlausible, reading.isKept || !hasCurrent[place] else {
                skippedRows += 1
                return
            }
            if !reading.isKept { hasCurrent[place] = true }
            if !reading.isKept || !hasCurrent[place] {
                cities[place].index = reading.index
                cities[place].updatedAt = reading.time
                cities[place].receivedAt = reading.receivedAt
            }
            guard reading.isKept else { return }
            if let newest = cities[place].points.last, newest.time >= key.time { isInOrder = false }
            cities[place].points.append(HistoryPoint(time: key.time, index: reading.index, category: 1))
            if cities[place].points.count >= 2 * capacity { cities[place].points.removeFirst(capacity) }
        }
        let cityCount = cities.count
        cities.removeAll { $0.updatedAt == .min }
        skippedRows += cityCount - cities.count
        for place in cities.indices where cities[place].points.count > capacity {
            cities[place].points.removeFirst(cities[place].points.count - capacity)
        }
    }

    /// Reads all rows.
    ///
    /// - Returns: their checksum. SQLite has none.
    static func scan(
        _ connection: borrowing SQLiteConnection, _ schema: StorageSchema,
        city: (CityRow) -> Void = { _ in }, reading: (StoredKey, StoredReading) -> Void = { _, _ in }
    ) throws(StorageError) -> UInt64 {
        var sum = RowChecksum()
        let cities = try connection.prepare(
            "SELECT id, name, category, direction, changed_ms, better, worse FROM city ORDER BY id")
        while try cities.step() {
            let row = CityRow(
                id: cities.integer(0), name: cities.bytes(1), category: cities.integer(2),
                direction: cities.integer(3), changedAt: cities.isNull(4) ? nil : cities.integer(4),
                better: cities.integer(5), worse: cities.integer(6))
            sum.add(row)
            city(row)
        }
        let readings = try connection.prepare(schema.readings)
        while try readings.step() {
            let key = StoredKey(time: readings.integer(0), city: readings.integer(1))
            let found = StoredReading(
                time: key.time, index: readings.double(2),
                receivedAt: readings.isNull(3) ? key.time : readings.integer(3), isKept: readings.integer(4) != 0)
            sum.add(found, of: key.city)
            reading(key, found)
        }
        if let scale = try connection.text("SELECT value FROM setting WHERE name = 'scale'") { sum.add(scale.utf8) }
        return sum.value
    }

    mutating func forgetCounters() {
        for place in cities.indices { (cities[place].changes.better, cities[place].changes.worse) = (0, 0) }
    }
}

extension StorageContent {
    /// Content of a file that cannot be written, with that of its journal.
    ///
    /// Counters restart at 0: they cannot be saved, and the next start must not restore old values.
    static func ofReadOnlyFile(_ path: String, capacity: Int) -> StorageContent {
        let path = resolvedPath(path)
        // Without a journal, SQLite would create one unless the file is declared immutable. With a journal, it would lock
        // the file for writing unless locks are switched off.
        let option = FileIdentity(path + "-wal") == nil ? "immutable=1" : "vfs=unix-none"
        do throws(StorageError) {
            let address = "file:\(percentEncoded(path.utf8, keepsSlashes: true))?\(option)"
            let connection = try SQLiteConnection(name: address, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            try StorageDatabase.configure(connection)
            let schema = try StorageDatabase.schema(of: connection)
            var content = try StorageContent(connection, schema, capacity: capacity)
            content.forgetCounters()
            return content.isInOrder ? content : StorageContent()
        } catch {
            return StorageContent()
        }
    }
}

/// A row of the table `city` as it is in the file.
struct CityRow {
    var id: Int64
    var name: [UInt8]
    var category: Int64
    var direction: Int64
    var changedAt: Int64?
    var better: Int64
    var worse: Int64
}

extension City {
    /// Without readings; nil when a value makes no sense.
    fileprivate init?(_ row: CityRow) {
        // So large that no exporter counts to it, and so small that one can count on from it.
        guard (1...1 << 53).contains(row.id), (1...CityName.maximumCount).contains(row.name.count),
            isUTF8(row.name.span), (1...6).contains(row.category), (-1...1).contains(row.direction),
            row.changedAt.map(City.times.contains) ?? true, row.better >= 0, row.worse >= 0
        else { return nil }
        var changes = CategoryChanges()
        changes.direction = Int8(row.direction)
        changes.changedAt = row.changedAt
        changes.better = UInt64(row.better)
        changes.worse = UInt64(row.worse)
        self.init(
            id: row.id, name: row.name, index: 0, updatedAt: .min, receivedAt: .min, category: UInt8(row.category),
            changes: changes)
    }
}

extension StoredReading {
    fileprivate var isPlausible: Bool {
        City.times.contains(time) && City.times.contains(receivedAt) && IndexRange.isValid(index)
    }
}

/// A checksum in which a change of any one value shows.
private struct RowChecksum {
    private(set) var value: UInt64 = 0

    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 32
    }

    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

    mutating func add(_ bytes: some Collection<UInt8>) {
        add(Int64(bytes.count))
        for byte in bytes { add(UInt64(byte)) }
    }

    mutating func add(_ row: CityRow) {
        add(row.id)
        add(row.name)
        add(row.category)
        add(row.direction)
        add(row.changedAt ?? .min)
        add(row.better)
        add(row.worse)
    }

    mutating func add(_ reading: StoredReading, of city: Int64) {
        add(city)
        add(reading.time)
        add(reading.index.bitPattern)
        add(reading.receivedAt)
        add(reading.isKept ? 1 : 0 as UInt64)
    }
}
