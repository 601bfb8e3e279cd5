import HTTPServer

/// The endpoints that the routes respond with.
struct Endpoints: Sendable {
    var metrics: MetricsEndpoint
    var history: HistoryEndpoint
    var health: Health
    var page: PageEndpoint
    var events: EventHub
    /// Counts the scrapes.
    var scrapes: HTTPMeter
    /// Scrapes at once; `nil`: no limit.
    var scrapeLimit: RequestLimit?
    /// Listeners of `/events` at once.
    let listenerLimit: RequestLimit? = RequestLimit(
        256, perClient: 64, refusal: .busy("too many listeners, expected at most 256", retryAfter: 10))
    /// Pages and histories at once: each is up to a megabyte while it is made.
    let documentLimit: RequestLimit? = RequestLimit(
        64, perClient: 16, patience: .milliseconds(500), refusal: .busy("too many requests at once"))
    var isLifecycleEnabled = false
    /// Told of each read of what the feeds are consumed for, after the response is made.
    var onRead: @Sendable () -> Void = {}
    var reconnect: @Sendable () -> Void = {}
    /// Reads files again; `nil` when all is well, else why not, in one line.
    var reload: @Sendable () -> String? = { nil }
}

extension RequestLimit {
    /// The limit of `--web.max-requests`, a quarter of it for one client; `nil` for 0, which is none.
    static func scrapes(_ limit: Int) -> RequestLimit? {
        limit == 0
            ? nil
            : RequestLimit(
                limit, perClient: max(1, limit / 4), patience: .milliseconds(500),
                refusal: .busy("too many scrapes at once"))
    }
}
