internal import AirQuality
internal import Bytes

extension StoreSnapshot {
    static let feedFamilies: [Family<StoreSnapshot>] = [
        Family(feed: "airquality_exporter_feed_connected", .gauge, "Whether the feed is connected.") {
            $0.isConnected ? 1 : 0
        },
        Family(
            feed: "airquality_exporter_feed_paused", .gauge,
            "Whether the feed is disconnected on purpose (--feed.pause-when-unused)."
        ) { $0.isPaused ? 1 : 0 },
        Family(
            feed: "airquality_exporter_feed_connection_attempts_total", .counter, "Attempts to connect to the feed."
        ) { Double($0.connectionAttempts) },
        Family(
            feed: "airquality_exporter_feed_connections_total", .counter, "Completed handshakes with the feed."
        ) { Double($0.connections) },
        Family(
            "airquality_exporter_feed_disconnects_total", .counter, labels: ["feed", "reason"],
            "Ended connections and failed connection attempts, by reason."
        ) { snapshot, add in
            for feed in snapshot.feeds {
                for reason in snapshot.rules.disconnectReasons {
                    add([feed.label, reason], Double(feed.disconnects[reason] ?? 0))
                }
            }
        },
        Family(
            feed: "airquality_exporter_feed_messages_total", .counter,
            "Complete messages received, including rejected ones."
        ) { Double($0.messages) },
        Family(
            feed: "airquality_exporter_feed_bytes_total", .counter, "Payload bytes of complete messages received."
        ) { Double($0.bytes) },
        Family(
            feed: "airquality_exporter_feed_messages_without_readings_total", .counter,
            "Messages that hold nothing that could be a reading, such as heartbeats."
        ) { Double($0.messagesWithoutReadings) },
        Family(feed: "airquality_exporter_feed_readings_total", .counter, "Readings accepted.") {
            Double($0.readings)
        },
        Family(
            feed: "airquality_exporter_feed_duplicates_total", .counter,
            "Readings of a city that the same message, or another feed within its idle time-out, had already given."
        ) { Double($0.duplicates) },
        Family(
            feed: "airquality_exporter_feed_rejected_total", .counter, labels: ["reason"],
            "Rejected messages and elements, by reason."
        ) { feed, add in
            for reason in RejectionReason.allCases {
                add([feed.label, reason.rawValue], Double(feed.rejections[reason]))
            }
        },
        Family(
            feed: "airquality_exporter_feed_last_message_timestamp_seconds", .gauge,
            "When the last complete message arrived, in seconds since the Unix epoch."
        ) { $0.lastMessageAt.map { Double($0) / 1000 } },
        Family(
            feed: "airquality_exporter_feed_certificate_expiry_timestamp_seconds", .gauge,
            "When the certificate of the feed's server expires, while connected by wss://."
        ) { $0.certificateExpiry.map { Double($0) / 1000 } },
        Family(
            feed: "airquality_exporter_feed_idle_timeout_seconds", .gauge,
            "Time without a complete message after which the feed is reconnected; 0 = off."
        ) { Double($0.idleTimeout) / 1000 },
        Family(
            feed: "airquality_exporter_feed_source_info", .gauge, labels: ["source", "kind", "license"],
            "Data source of the feed, as announced in its handshake; the value is 1."
        ) { feed, add in
            guard let source = feed.source else { return }
            add([feed.label, source.name, source.kind, source.license], 1)
        },
    ]
}

extension Family<StoreSnapshot> {
    /// Creates a family with samples of each feed, whose first label is `feed`.
    fileprivate init(
        feed name: String, _ kind: MetricFamily.Kind, labels: [String], _ help: String,
        samples: @escaping @Sendable (FeedStatistics, AddSample) -> Void
    ) {
        self.init(name, kind, labels: ["feed"] + labels, help) { snapshot, add in
            for feed in snapshot.feeds { samples(feed, add) }
        }
    }

    /// Creates a family with one sample per feed; none if the value is `nil`.
    fileprivate init(
        feed name: String, _ kind: MetricFamily.Kind, _ help: String,
        value: @escaping @Sendable (FeedStatistics) -> Double?
    ) {
        self.init(feed: name, kind, labels: [], help) { feed, add in
            if let value = value(feed) { add([feed.label], value) }
        }
    }
}
