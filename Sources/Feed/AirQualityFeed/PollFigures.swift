import AirQuality
import Bytes

/// What `/metrics` shows of `poll`.
struct PollFigures {
    var statistics = PollPlan.Statistics()
    var callsLeft = 0
    var cities = 0
    var citiesWithAir = 0
    /// Seconds since the Unix epoch.
    var newestObservation: Int64?

    func families(clients: Int) -> [PlainFamily] {
        [
            PlainFamily(
                "airquality_feed_requests_total", .counter, "Requests sent to the source.",
                Double(statistics.requests)),
            PlainFamily(
                "airquality_feed_request_failures_total", .counter, label: "reason",
                "Requests that gave no air, by reason.",
                PollPlan.Statistics.Failure.allCases.map { ($0.rawValue, Double(statistics.failures[$0] ?? 0)) }),
            PlainFamily(
                "airquality_feed_calls_left", .gauge, "Calls that --rate allows now.", Double(callsLeft)),
            PlainFamily("airquality_feed_cities", .gauge, "Cities asked for.", Double(cities)),
            PlainFamily(
                "airquality_feed_cities_with_air", .gauge, "Cities whose last response had an index.",
                Double(citiesWithAir)),
            PlainFamily(
                "airquality_feed_newest_observation_timestamp_seconds", .gauge, "Time of the newest observation.",
                newestObservation.map(Double.init)),
            PlainFamily(
                "airquality_feed_spikes_total", .counter,
                "Hourly values left out because their neighbours contradict them.",
                Double(statistics.spikes)),
            clientsFamily(clients),
        ]
    }
}

func clientsFamily(_ count: Int) -> PlainFamily {
    PlainFamily("airquality_feed_clients", .gauge, "WebSocket clients.", Double(count))
}
