import Exposition
import HTTPServer

extension HTTPStatistics {
    static let families: [Family<Self>] = [
        Family("promhttp_metric_handler_requests_in_flight", .gauge, "Current number of scrapes being served.") {
            Double($0.requestsInFlight)
        },
        Family(
            "promhttp_metric_handler_requests_total", .counter, labels: ["code"],
            "Total number of scrapes by HTTP status code."
        ) { statistics, add in
            for (status, count) in statistics.responses.sorted(by: { $0.key < $1.key }) {
                add([String(status)], Double(count))
            }
        },
    ]
}
