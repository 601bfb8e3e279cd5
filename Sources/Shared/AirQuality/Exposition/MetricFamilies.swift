internal import Bytes

// All metric families: every format and the README are generated from this table.

extension MetricFamily {
    /// In the order of the exposition.
    public static let all: [MetricFamily] =
        CityFamily.all.map(\.family) + families(of: SourceFamily<Scale>.scale)
        + families(of: SourceFamily<FeedStatistics>.feeds)
        + families(of: SourceFamily<ExporterReport.Reload>.reload)
        + families(of: SourceFamily<ExporterReport.Web>.web) + families(of: SourceFamily<StoreFigures>.store)
        + families(of: SourceFamily<ExporterReport.Storage>.storage)
        + families(of: SourceFamily<ExporterReport.Build>.build)
        + families(of: SourceFamily<ExporterReport.Process>.process)
        + families(of: SourceFamily<ExporterReport.Handler>.handler)

    private static func families<Source>(of families: [SourceFamily<Source>]) -> [MetricFamily] {
        families.map(\.family)
    }
}

extension CityFamily {
    static let all: [CityFamily] = [
        CityFamily(
            .index, "airquality_index", .gauge, "Current Air Quality Index of the city.", changes: .reading
        ) { .number($0.state.index) },
        CityFamily(
            .category, "airquality_category", .gauge,
            "Category of the city's index, 1 the best; airquality_category_info names them.", changes: .category
        ) { .number(Double($0.state.category)) },
        CityFamily(
            .direction, "airquality_category_direction", .gauge,
            "Direction of the city's last category change: 1 improved, -1 worsened, 0 none yet.", changes: .category
        ) { .number(Double($0.state.changes.direction)) },
        CityFamily(
            .changed, "airquality_category_changed_timestamp_seconds", .gauge,
            "When the city's category last changed, in seconds since the Unix epoch.", changes: .category
        ) { $0.state.changes.changedAt.map { .time($0) } },
        CityFamily(
            .changes, "airquality_category_changes_total", .counter, label: "direction",
            "Number of category changes of the city.", changes: .category,
            values: [
                ("better", { .number(Double($0.state.changes.better)) }),
                ("worse", { .number(Double($0.state.changes.worse)) }),
            ]
        ),
        CityFamily(
            .updated, "airquality_last_update_timestamp_seconds", .gauge,
            "Time of the city's newest reading, in seconds since the Unix epoch.", changes: .reading
        ) { .time($0.state.updatedAt) },
        CityFamily(
            .concentration, "airquality_concentration_ugm3", .gauge, label: "pollutant",
            "Concentration of a pollutant in the city's air, in micrograms per cubic metre.", changes: .reading,
            values: PollutantValues.pollutants.enumerated().map { place, pollutant in
                (pollutant, { $0.extras.concentrations?[place].map { .number($0) } })
            }
        ),
        CityFamily(
            .subindex, "airquality_subindex", .gauge, label: "pollutant",
            "Sub-index of a pollutant in the city; the highest one is the city's index.", changes: .reading,
            values: PollutantValues.pollutants.enumerated().map { place, pollutant in
                (pollutant, { $0.extras.subIndices?[place].map { .number($0) } })
            }
        ),
        CityFamily(placesNamed: "airquality_city_info", "Location of the city; unknown labels are empty."),
    ]
}

extension SourceFamily where Source == Scale {
    static let scale: [SourceFamily] = [
        SourceFamily(
            "airquality_category_info", .gauge, labels: ["scale", "category", "name", "from", "color", "face"],
            "Categories of the scale in use; each starts at the index in the label from."
        ) { scale, add in
            for category in scale.categories {
                var from: [UInt8] = []
                from.appendNumber(category.from)
                add(
                    [
                        LabelValue(scale.name), LabelValue(Int(category.number)), LabelValue(category.name),
                        LabelValue(from), LabelValue(category.color), LabelValue(category.face),
                    ], .number(1))
            }
        }
    ]
}

extension SourceFamily where Source == FeedStatistics {
    static let feeds: [SourceFamily] = [
        SourceFamily("airquality_exporter_feed_connected", .gauge, label: "feed", "Whether the feed is connected.") {
            $0.isConnected ? 1 : 0
        },
        SourceFamily(
            "airquality_exporter_feed_paused", .gauge, label: "feed",
            "Whether the feed is disconnected on purpose (--feed.pause-when-unused)."
        ) { $0.isPaused ? 1 : 0 },
        SourceFamily(
            "airquality_exporter_feed_connection_attempts_total", .counter, label: "feed",
            "Attempts to connect to the feed."
        ) { Double($0.connectionAttempts) },
        SourceFamily(
            "airquality_exporter_feed_disconnects_total", .counter, labels: ["feed", "reason"],
            "Ended connections and failed connection attempts, by reason."
        ) { feed, add in
            for (reason, count) in zip(DisconnectReason.allCases, feed.disconnects) {
                add([LabelValue(reason.rawValue)], .number(Double(count)))
            }
        },
        SourceFamily(
            "airquality_exporter_feed_messages_total", .counter, label: "feed",
            "Complete messages received, including rejected ones."
        ) { Double($0.messages) },
        SourceFamily(
            "airquality_exporter_feed_bytes_total", .counter, label: "feed",
            "Payload bytes of complete messages received."
        ) { Double($0.bytes) },
        SourceFamily("airquality_exporter_feed_readings_total", .counter, label: "feed", "Readings accepted.") {
            Double($0.readings)
        },
        SourceFamily(
            "airquality_exporter_feed_readings_skipped_total", .counter, label: "feed",
            "Readings skipped because their cities belong to other shards (--city.shard)."
        ) { $0.skipped.map { Double($0) } },
        SourceFamily(
            "airquality_exporter_feed_refusals_total", .counter, labels: ["feed", "reason"],
            "Rejected messages and elements, by reason."
        ) { feed, add in
            for reason in RefusalReason.allCases {
                add([LabelValue(reason.rawValue)], .number(Double(feed.refusals[reason])))
            }
        },
        SourceFamily(
            "airquality_exporter_feed_last_message_timestamp_seconds", .gauge, label: "feed",
            "When the last complete message arrived, in seconds since the Unix epoch."
        ) { $0.lastMessageAt.map { Double($0) / 1000 } },
        SourceFamily(
            "airquality_exporter_feed_idle_timeout_seconds", .gauge, label: "feed",
            "Time without a complete message after which the feed is reconnected; 0 = off."
        ) { Double($0.idleTimeout) / 1000 },
        SourceFamily(
            "airquality_exporter_feed_source_info", .gauge, labels: ["feed", "source", "kind", "license"],
            "Data source of the feed, as announced in its handshake; the value is 1."
        ) { feed, add in
            guard let source = feed.source else { return }
            add([source.name, source.kind, source.license].map { LabelValue($0) }, .number(1))
        },
    ]
}

extension SourceFamily where Source == ExporterReport.Web {
    static let web: [SourceFamily] = [
        SourceFamily("airquality_exporter_event_listeners", .gauge, "Connected clients of /events.") {
            $0.listeners.map { Double($0) }
        },
        SourceFamily(
            "airquality_exporter_tls_handshake_failures_total", .counter,
            "Failed TLS handshakes with HTTP clients."
        ) { $0.tlsHandshakeFailures.map { Double($0) } },
    ]
}

extension SourceFamily where Source == StoreFigures {
    static let store: [SourceFamily] = [
        SourceFamily("airquality_exporter_cities", .gauge, "Cities exported.") { Double($0.cities) },
        SourceFamily("airquality_exporter_cities_limit", .gauge, "Maximum number of cities (--city.limit).") {
            Double($0.cityLimit)
        },
        SourceFamily(
            "airquality_exporter_city_expiry_seconds", .gauge,
            "Time without a reading after which a city is removed; 0 = never."
        ) { Double($0.expireAfter) / 1000 },
        SourceFamily(
            "airquality_exporter_cities_expired_total", .counter,
            "Cities removed because they received no reading within --city.expire-after."
        ) { Double($0.expired) },
        SourceFamily("airquality_exporter_history_points", .gauge, "History points of all cities.") {
            Double($0.points)
        },
        SourceFamily("airquality_exporter_history_capacity", .gauge, "Maximum number of history points per city.") {
            Double($0.capacity)
        },
        SourceFamily(
            "airquality_exporter_shard_index", .gauge, "Index of this shard, from 0 (--city.shard)."
        ) { $0.shard.map { Double($0.index) } },
        SourceFamily(
            "airquality_exporter_shards", .gauge, "Number of shards (--city.shard)."
        ) { $0.shard.map { Double($0.count) } },
    ]
}

extension SourceFamily where Source == ExporterReport.Reload {
    static let reload: [SourceFamily] = [
        SourceFamily(
            "airquality_exporter_config_last_reload_successful", .gauge,
            "Whether the last reload of configuration files succeeded."
        ) { $0.isSuccessful ? 1 : 0 },
        SourceFamily(
            "airquality_exporter_config_last_reload_success_timestamp_seconds", .gauge,
            "When the configuration files were last loaded, in seconds since the Unix epoch."
        ) { Double($0.succeededAt) / 1000 },
    ]
}

extension SourceFamily where Source == ExporterReport.Storage {
    static let storage: [SourceFamily] = [
        SourceFamily(
            "airquality_exporter_storage_errors_total", .counter, "Failed attempts to write the storage file."
        ) { Double($0.errors) },
        SourceFamily(
            "airquality_exporter_storage_last_write_timestamp_seconds", .gauge,
            "When the storage file was last written, in seconds since the Unix epoch."
        ) { $0.lastWriteAt.map { Double($0) / 1000 } },
    ]
}

extension SourceFamily where Source == ExporterReport.Build {
    static let build: [SourceFamily] = [
        SourceFamily(
            "airquality_exporter_build_info", .gauge, labels: ["version", "revision", "branch", "swiftversion"],
            "Build information; the value is 1."
        ) { build, add in
            add([build.version, build.revision, build.branch, build.swiftVersion].map { LabelValue($0) }, .number(1))
        }
    ]
}

extension SourceFamily where Source == ExporterReport.Process {
    static let process: [SourceFamily] = [
        SourceFamily("process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.") {
            $0.cpuSeconds
        },
        SourceFamily("process_heap_bytes", .gauge, "Process heap size in bytes.") { $0.heapBytes },
        SourceFamily("process_max_fds", .gauge, "Maximum number of open file descriptors.") { $0.maxFDs },
        SourceFamily(
            "process_network_receive_bytes_total", .counter,
            "Bytes received in the network namespace of the process."
        ) { $0.networkReceiveBytes },
        SourceFamily(
            "process_network_transmit_bytes_total", .counter, "Bytes sent in the network namespace of the process."
        ) { $0.networkTransmitBytes },
        SourceFamily("process_open_fds", .gauge, "Number of open file descriptors.") { $0.openFDs },
        SourceFamily("process_resident_memory_bytes", .gauge, "Resident memory size in bytes.") {
            $0.residentMemoryBytes
        },
        SourceFamily(
            "process_start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds."
        ) { $0.startTimeSeconds },
        SourceFamily("process_threads", .gauge, "Number of OS threads in the process.") { $0.threads },
        SourceFamily("process_virtual_memory_bytes", .gauge, "Virtual memory size in bytes.") {
            $0.virtualMemoryBytes
        },
        SourceFamily(
            "process_virtual_memory_max_bytes", .gauge, "Maximum amount of virtual memory available in bytes."
        ) { $0.virtualMemoryMaxBytes },
    ]
}

extension SourceFamily where Source == ExporterReport.Handler {
    static let handler: [SourceFamily] = [
        SourceFamily(
            "promhttp_metric_handler_requests_in_flight", .gauge, "Current number of scrapes being served."
        ) { Double($0.inFlight) },
        SourceFamily(
            "promhttp_metric_handler_requests_total", .counter, labels: ["code"],
            "Total number of scrapes by HTTP status code."
        ) { handler, add in
            for (code, count) in handler.requests { add([LabelValue(code)], .number(Double(count))) }
        },
    ]
}
