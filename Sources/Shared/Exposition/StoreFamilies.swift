internal import AirQuality

extension StoreSnapshot {
    static let storeFamilies: [Family<StoreSnapshot>] = [
        Family("airquality_exporter_cities", .gauge, "Cities exported.") { Double($0.cityCount) },
        Family("airquality_exporter_cities_limit", .gauge, "Maximum number of cities (--city.limit).") {
            Double($0.rules.cityLimit)
        },
        Family(
            "airquality_exporter_city_expiry_seconds", .gauge,
            "Time without a reading after which a city is removed; 0 = never."
        ) { Double($0.rules.expireAfter) / 1000 },
        Family(
            "airquality_exporter_cities_expired_total", .counter,
            "Cities removed because they received no reading within --city.expire-after."
        ) { Double($0.expiredCount) },
        Family("airquality_exporter_history_points", .gauge, "History points of all cities.") { Double($0.pointCount) },
        Family("airquality_exporter_history_capacity", .gauge, "Maximum number of history points per city.") {
            Double($0.rules.history.capacity)
        },
    ]
}
