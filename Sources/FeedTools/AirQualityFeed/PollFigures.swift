import Exposition

/// The values that `poll` exposes on `/metrics`.
struct PollFigures {
    enum Failure: String, CaseIterable { case unreachable, refused, busy, unreadable, status }

    var requests: UInt64 = 0
    var failures: [Failure: UInt64] = [:]
    var callsLeft = 0
    var cities = 0
    var citiesWithAir = 0
    /// Time of the newest observation, in seconds since the Unix epoch.
    var newestObservation: Int64?

    static let families: [Family<PollFigures>] = [
        Family("airquality_feed_requests_total", .counter, "Requests sent to the source.") {
            Double($0.requests)
        },
        Family(
            "airquality_feed_request_failures_total", .counter, labels: ["reason"],
            "Requests that returned no data, by reason."
        ) { figures, add in
            for failure in Failure.allCases {
                add([failure.rawValue], Double(figures.failures[failure] ?? 0))
            }
        },
        Family("airquality_feed_calls_left", .gauge, "Calls that --rate allows now.") { Double($0.callsLeft) },
        Family("airquality_feed_cities", .gauge, "Cities requested.") { Double($0.cities) },
        Family("airquality_feed_cities_with_air", .gauge, "Cities whose last response had an index.") {
            Double($0.citiesWithAir)
        },
        Family("airquality_feed_newest_observation_timestamp_seconds", .gauge, "Time of the newest observation.") {
            $0.newestObservation.map { Double($0) }
        },
    ]
}
