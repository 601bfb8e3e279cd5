/// The store's state at one moment, shared with it until either changes.
public struct StoreSnapshot: Sendable {
    public let version: UInt64
    let startedAt: Timestamp
    /// When cities last expired.
    let expiredAt: Timestamp?
    let names: NameArena
    let states: CityStates
    let extras: ExtrasOfCities
    let order: CityOrder
    /// Empty unless they were asked for.
    let histories: ChunkedArray<History>
    public let feeds: [FeedStatistics]
    public let cityCount: Int
    let pointCount: Int
    let expiredCount: UInt64

    /// The numbers of all cities, by name.
    var cities: [Int] {
        order.sequence.flatMap { order.runs[Int($0)].cities.map(Int.init) }
    }

    func state(of city: Int) -> CityState { states[city] }

    func extras(of city: Int) -> CityExtras { extras[city] }

    func name(of city: Int) -> ArraySlice<UInt8> { names[states[city].nameRange] }

    /// Oldest first: the kept points, and the current reading where it is newer than all of them.
    func points(of city: Int) -> [HistoryPoint] {
        let history = histories[city]
        var points = (0..<history.count).map { history[$0] }
        let state = state(of: city)
        if points.last.map({ $0.time < state.updatedAt }) ?? true {
            points.append(HistoryPoint(time: state.updatedAt, index: state.index, category: state.category))
        }
        return points
    }

    /// The city of this name, and those before and after it by name.
    func find(_ name: [UInt8]) -> (city: Int, previous: Int?, next: Int?)? {
        let runs = order.sequence.map { order.runs[Int($0)].cities }
        // The last run whose first city sorts at or before the name.
        guard let run = runs.lastIndex(where: { !name.lexicographicallyPrecedes(self.name(of: Int($0[0]))) }),
            let place = runs[run].firstIndex(where: { self.name(of: Int($0)).elementsEqual(name) })
        else { return nil }
        let previous = place > 0 ? runs[run][place - 1] : run > 0 ? runs[run - 1].last : nil
        let next =
            place + 1 < runs[run].count
            ? runs[run][place + 1] : run + 1 < runs.count ? runs[run + 1].first : nil
        return (Int(runs[run][place]), previous.map(Int.init), next.map(Int.init))
    }
}

/// The figures of the store as a whole.
struct StoreStatistics: Sendable, Equatable {
    var cities: Int
    var cityLimit: Int
    /// Milliseconds.
    var expireAfter: Int64
    var expired: UInt64
    var points: Int
    var capacity: Int
    var shard: Shard?

    init(_ snapshot: StoreSnapshot, rules: StoreRules) {
        cities = snapshot.cityCount
        cityLimit = rules.cityLimit
        expireAfter = rules.expireAfter
        expired = snapshot.expiredCount
        points = snapshot.pointCount
        capacity = rules.history.capacity
        shard = rules.shard
    }

    static let families: [Family<StoreStatistics>] = [
        Family("airquality_exporter_cities", .gauge, "Cities exported.") { Double($0.cities) },
        Family("airquality_exporter_cities_limit", .gauge, "Maximum number of cities (--city.limit).") {
            Double($0.cityLimit)
        },
        Family(
            "airquality_exporter_city_expiry_seconds", .gauge,
            "Time without a reading after which a city is removed; 0 = never."
        ) { Double($0.expireAfter) / 1000 },
        Family(
            "airquality_exporter_cities_expired_total", .counter,
            "Cities removed because they received no reading within --city.expire-after."
        ) { Double($0.expired) },
        Family("airquality_exporter_history_points", .gauge, "History points of all cities.") {
            Double($0.points)
        },
        Family("airquality_exporter_history_capacity", .gauge, "Maximum number of history points per city.") {
            Double($0.capacity)
        },
        Family(
            "airquality_exporter_shard_index", .gauge, "Index of this shard, from 0 (--city.shard)."
        ) { $0.shard.map { Double($0.index) } },
        Family(
            "airquality_exporter_shards", .gauge, "Number of shards (--city.shard)."
        ) { $0.shard.map { Double($0.count) } },
    ]
}
