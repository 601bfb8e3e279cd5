import AirQuality

/// What `/metrics` shows of `poll`.
struct PollFigures {
    var statistics = PollPlan.Statistics()
    var callsLeft = 0
    var cities = 0
    var citiesWithAir = 0
    /// Seconds since the Unix epoch.
    var newestObservation: Int64?
    var clients = 0

    static let families: [Family<PollFigures>] = [
        Family("airquality_feed_requests_total", .counter, "Requests sent to the source.") {
            Double($0.statistics.requests)
        },
        Family(
            "airquality_feed_request_failures_total", .counter, labels: ["reason"],
            "Requests that gave no air, by reason."
        ) { figures, add in
            for failure in PollPlan.Statistics.Failure.allCases {
                add([LabelValue(failure.rawValue)], .number(Double(figures.statistics.failures[failure] ?? 0)))
            }
        },
        Family("airquality_feed_calls_left", .gauge, "Calls that --rate allows now.") { Double($0.callsLeft) },
        Family("airquality_feed_cities", .gauge, "Cities asked for.") { Double($0.cities) },
        Family("airquality_feed_cities_with_air", .gauge, "Cities whose last response had an index.") {
            Double($0.citiesWithAir)
        },
        Family("airquality_feed_newest_observation_timestamp_seconds", .gauge, "Time of the newest observation.") {
            $0.newestObservation.map { Double($0) }
        },
        Family(
            "airquality_feed_spikes_total", .counter,
            "Hourly values left out because their neighbours contradict them."
        ) { Double($0.statistics.spikes) },
        clientsFamily { $0.clients },
    ]
}

func clientsFamily<Source>(_ count: @escaping @Sendable (Source) -> Int) -> Family<Source> {
    Family("airquality_feed_clients", .gauge, "WebSocket clients.") { Double(count($0)) }
}
