internal import AirQuality
internal import Bytes
internal import FeedProtocol

extension FeedStatistics {
    static let families: [Family<FeedStatistics>] = [
        Family("airquality_exporter_feed_connected", .gauge, label: "feed", "Whether the feed is connected.") {
            $0.isConnected ? 1 : 0
        },
        Family(
            "airquality_exporter_feed_paused", .gauge, label: "feed",
            "Whether the feed is disconnected on purpose (--feed.pause-when-unused)."
        ) { $0.isPaused ? 1 : 0 },
        Family(
            "airquality_exporter_feed_connection_attempts_total", .counter, label: "feed",
            "Attempts to connect to the feed."
        ) { Double($0.connectionAttempts) },
        Family(
            "airquality_exporter_feed_connections_total", .counter, label: "feed", "Finished handshakes with the feed."
        ) { Double($0.connections) },
        Family(
            "airquality_exporter_feed_disconnects_total", .counter, labels: ["feed", "reason"],
            "Ended connections and failed connection attempts, by reason."
        ) { feed, add in
            for (reason, count) in zip(DisconnectReason.allCases, feed.disconnects) {
                add([LabelValue(reason.rawValue)], .number(Double(count)))
            }
        },
        Family(
            "airquality_exporter_feed_messages_total", .counter, label: "feed",
            "Complete messages received, including rejected ones."
        ) { Double($0.messages) },
        Family(
            "airquality_exporter_feed_bytes_total", .counter, label: "feed",
            "Payload bytes of complete messages received."
        ) { Double($0.bytes) },
        Family(
            "airquality_exporter_feed_messages_without_readings_total", .counter, label: "feed",
            "Messages that hold nothing that could be a reading, such as heartbeats."
        ) { Double($0.messagesWithoutReadings) },
        Family("airquality_exporter_feed_readings_total", .counter, label: "feed", "Readings accepted.") {
            Double($0.readings)
        },
        Family(
            "airquality_exporter_feed_duplicates_total", .counter, label: "feed",
            "Readings of a city that came in the same message, or from another feed within its idle time-out."
        ) { Double($0.duplicates) },
        Family(
            "airquality_exporter_feed_readings_skipped_total", .counter, label: "feed",
            "Readings skipped because their cities belong to other shards (--city.shard)."
        ) { $0.skipped.map { Double($0) } },
        Family(
            "airquality_exporter_feed_rejected_total", .counter, labels: ["feed", "reason"],
            "Rejected messages and elements, by reason."
        ) { feed, add in
            for reason in RejectionReason.allCases {
                add([LabelValue(reason.rawValue)], .number(Double(feed.rejections[reason])))
            }
        },
        Family(
            "airquality_exporter_feed_last_message_timestamp_seconds", .gauge, label: "feed",
            "When the last complete message arrived, in seconds since the Unix epoch."
        ) { $0.lastMessageAt.map { Double($0) / 1000 } },
        Family(
            "airquality_exporter_feed_idle_timeout_seconds", .gauge, label: "feed",
            "Time without a complete message after which the feed is reconnected; 0 = off."
        ) { Double($0.idleTimeout) / 1000 },
        Family(
            "airquality_exporter_feed_source_info", .gauge, labels: ["feed", "source", "kind", "license"],
            "Data source of the feed, as announced in its handshake; the value is 1."
        ) { feed, add in
            guard let source = feed.source else { return }
            add([source.name, source.kind, source.license].map { LabelValue($0) }, .number(1))
        },
    ]
}
