import Testing

@testable import Storage

let testTime: Int64 = 1_795_236_585_252
let testLimits = StorageLimits(maximumNameBytes: 128, maximumIndex: 9999)

func makeConfiguration(_ path: String, capacity: Int = 25, scale: String = "india") -> StorageConfiguration {
    StorageConfiguration(
        path: path, capacity: capacity, scale: scale, limits: testLimits, interval: .milliseconds(1))
}

func makeCity(_ name: String, index: Double = 50.5, points: [StoredPoint] = []) -> StoredCity {
    StoredCity(
        name: Array(name.utf8), index: index, updatedAt: testTime, receivedAt: testTime + 7, category: 1,
        points: points)
}

/// Points a second apart, the index counting with them.
func makePoints(_ numbers: Range<Int>) -> [StoredPoint] {
    numbers.map { StoredPoint(time: testTime + Int64($0) * 1000, index: Double($0)) }
}

func open(_ configuration: StorageConfiguration) throws(StorageError) -> RestoredStorage {
    try StorageFile.open(configuration, now: { testTime })
}

/// Writes batches, the last one as `stop()` does, and closes the file.
@discardableResult
func store(_ batches: [StorageBatch], in configuration: StorageConfiguration) throws -> [StorageEvent] {
    let file = try open(configuration).file
    var rest = batches[...]
    var events: [StorageEvent] = []
    if rest.count <= 1 { file.stop() }
    file.run(
        since: 0,
        changes: { since in
            guard let batch = rest.popFirst() else { return StorageBatch(version: since) }
            if rest.count == 1 { file.stop() }
            return batch
        }, onEvent: { events.append($0) })
    return events
}

/// A file with these cities, closed.
func store(_ cities: [StoredCity], in configuration: StorageConfiguration) throws {
    try store([StorageBatch(version: 1, cities: cities)], in: configuration)
}

/// What a start finds. The file is closed again and not changed by it.
func restoredCities(_ configuration: StorageConfiguration) throws -> [StoredCity] {
    let restored = try open(configuration)
    #expect(restored.outcome == .restored)
    return restored.cities
}

/// As it comes back after anything but a proper end.
func withoutCounters(_ city: StoredCity) -> StoredCity {
    var city = city
    (city.better, city.worse) = (0, 0)
    return city
}

/// A writer whose file is not closed properly when it goes, as after the death of the process.
func makeWriter(_ configuration: StorageConfiguration) throws -> StorageWriter {
    let database = try StorageDatabase.open(configuration)
    return StorageWriter(configuration, database: database, replacesAll: false)
}

/// Runs SQL of its own on a file that nobody has open.
func execute(_ sql: String, on path: String) throws {
    let readWriteCreate: Int32 = 6
    try SQLiteConnection(name: path, flags: readWriteCreate).execute(sql)
}

func integer(_ sql: String, in path: String) throws -> Int64 {
    let readWrite: Int32 = 2
    return try SQLiteConnection(name: path, flags: readWrite).integer(sql)
}
