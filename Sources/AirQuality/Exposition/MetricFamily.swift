/// Name, type and help of a metric family, with the labels of its series.
public struct MetricFamily: Sendable, Equatable {
    public enum Kind: String, Sendable {
        case gauge, counter
    }

    /// As in text 0.0.4, a counter's `_total` included.
    public var name: String
    public var kind: Kind
    public var help: String
    public var labels: [String]

    init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
    }
}

extension MetricFamily {
    // MARK: Cities

    static let index = MetricFamily(
        "airquality_index", .gauge, labels: ["city"], "Current Air Quality Index of the city.")
    static let category = MetricFamily(
        "airquality_category", .gauge, labels: ["city"],
        "Category of the city's index, 1 the best; airquality_category_info names them.")
    static let categoryDirection = MetricFamily(
        "airquality_category_direction", .gauge, labels: ["city"],
        "Last change of the city's category: 1 better, -1 worse, 0 none yet.")
    static let categoryChangedAt = MetricFamily(
        "airquality_category_changed_timestamp_seconds", .gauge, labels: ["city"],
        "When the city's category last changed, in seconds since the Unix epoch.")
    static let categoryChanges = MetricFamily(
        "airquality_category_changes_total", .counter, labels: ["city", "direction"],
        "Changes of the city's category.")
    static let lastUpdateAt = MetricFamily(
        "airquality_last_update_timestamp_seconds", .gauge, labels: ["city"],
        "Time of the city's newest reading, in seconds since the Unix epoch.")
    static let categoryInfo = MetricFamily(
        "airquality_category_info", .gauge, labels: ["scale", "category", "name", "from", "color", "face"],
        "The categories of the scale in use; each reaches from its index up to the next one's.")

    // MARK: Feeds

    static let feedConnected = MetricFamily(
        "airquality_exporter_feed_connected", .gauge, labels: ["feed"],
        "Whether the feed is connected.")
    static let feedPaused = MetricFamily(
        "airquality_exporter_feed_paused", .gauge, labels: ["feed"],
        "Whether the feed is disconnected on purpose, because nobody reads.")
    static let feedConnectionAttempts = MetricFamily(
        "airquality_exporter_feed_connection_attempts_total", .counter, labels: ["feed"],
        "Attempts to connect to the feed.")
    static let feedDisconnects = MetricFamily(
        "airquality_exporter_feed_disconnects_total", .counter, labels: ["feed", "reason"],
        "Connections to the feed that ended, and attempts that failed.")
    static let feedMessages = MetricFamily(
        "airquality_exporter_feed_messages_total", .counter, labels: ["feed"],
        "Whole messages received, refused ones included.")
    static let feedBytes = MetricFamily(
        "airquality_exporter_feed_bytes_total", .counter, labels: ["feed"],
        "Payload bytes of whole messages received.")
    static let feedReadings = MetricFamily(
        "airquality_exporter_feed_readings_total", .counter, labels: ["feed"],
        "Readings accepted.")
    static let feedRefusals = MetricFamily(
        "airquality_exporter_feed_refusals_total", .counter, labels: ["feed", "reason"],
        "Messages and elements of messages refused.")
    static let feedLastMessageAt = MetricFamily(
        "airquality_exporter_feed_last_message_timestamp_seconds", .gauge, labels: ["feed"],
        "When the last whole message arrived, in seconds since the Unix epoch.")

    // MARK: The exporter

    static let cities = MetricFamily("airquality_exporter_cities", .gauge, "Cities exported.")
    static let citiesLimit = MetricFamily(
        "airquality_exporter_cities_limit", .gauge, "Cities beyond this number are refused.")
    static let cityExpiry = MetricFamily(
        "airquality_exporter_city_expiry_seconds", .gauge,
        "A city not heard of for this long is dropped; 0 means never.")
    static let citiesExpired = MetricFamily(
        "airquality_exporter_cities_expired_total", .counter, "Cities dropped because they were not heard of.")
    static let historyPoints = MetricFamily(
        "airquality_exporter_history_points", .gauge, "Points kept in the history of all cities.")
    static let historyCapacity = MetricFamily(
        "airquality_exporter_history_capacity", .gauge, "Points that are kept of one city at most.")
    static let storageErrors = MetricFamily(
        "airquality_exporter_storage_errors_total", .counter, "Failed attempts to write the storage file.")
    static let storageLastWriteAt = MetricFamily(
        "airquality_exporter_storage_last_write_timestamp_seconds", .gauge,
        "When the storage file was last written, in seconds since the Unix epoch.")
    static let buildInfo = MetricFamily(
        "airquality_exporter_build_info", .gauge, labels: ["version", "revision", "branch", "swiftversion"],
        "What this program was built from; the value is 1.")

    // MARK: The process

    static let processCPU = MetricFamily(
        "process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.")
    static let processMaxFDs = MetricFamily("process_max_fds", .gauge, "Maximum number of open file descriptors.")
    static let processNetworkReceive = MetricFamily(
        "process_network_receive_bytes_total", .counter, "Number of bytes received by the process over the network.")
    static let processNetworkTransmit = MetricFamily(
        "process_network_transmit_bytes_total", .counter, "Number of bytes sent by the process over the network.")
    static let processOpenFDs = MetricFamily("process_open_fds", .gauge, "Number of open file descriptors.")
    static let processResidentMemory = MetricFamily(
        "process_resident_memory_bytes", .gauge, "Resident memory size in bytes.")
    static let processStartTime = MetricFamily(
        "process_start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds.")
    static let processThreads = MetricFamily("process_threads", .gauge, "Number of OS threads in the process.")
    static let processVirtualMemory = MetricFamily(
        "process_virtual_memory_bytes", .gauge, "Virtual memory size in bytes.")
    static let processVirtualMemoryMax = MetricFamily(
        "process_virtual_memory_max_bytes", .gauge, "Maximum amount of virtual memory available in bytes.")
    static let processHeap = MetricFamily("process_heap_bytes", .gauge, "Process heap size in bytes.")

    static let handlerInFlight = MetricFamily(
        "promhttp_metric_handler_requests_in_flight", .gauge, "Current number of scrapes being served.")
    static let handlerRequests = MetricFamily(
        "promhttp_metric_handler_requests_total", .counter, labels: ["code"],
        "Total number of scrapes by HTTP status code.")

    /// Every family there can be, in the order of the page.
    public static let all: [MetricFamily] = [
        index, category, categoryDirection, categoryChangedAt, categoryChanges, lastUpdateAt, categoryInfo,
        feedConnected, feedPaused, feedConnectionAttempts, feedDisconnects, feedMessages, feedBytes, feedReadings,
        feedRefusals, feedLastMessageAt,
        cities, citiesLimit, cityExpiry, citiesExpired, historyPoints, historyCapacity,
        storageErrors, storageLastWriteAt, buildInfo,
        processCPU, processHeap, processMaxFDs, processNetworkReceive, processNetworkTransmit, processOpenFDs,
        processResidentMemory, processStartTime, processThreads, processVirtualMemory, processVirtualMemoryMax,
        handlerInFlight, handlerRequests,
    ]
}
