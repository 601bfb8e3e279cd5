import CommandLine

extension Manual {
    /// What the exporter's manual page says besides its flags.
    static var exporter: Manual {
        var manual = Manual()
        manual.title = "Prometheus exporter of live Air Quality Index readings"
        manual.description = [
            "It connects to one or more feeds that push messages such as `[{\"city\":\"Mumbai\",\"aqi\":183.2}]`, and serves "
                + "the newest index of each city at `/metrics`, the last points of each city at `/history.json`, and a "
                + "page for people at `/`. It serves from its first moment: a feed that is down is a metric, and is "
                + "dialled again for ever.",
            "Either --feed.url or --feed.demo must be given. All else has a default. Durations are written as "
                + "Prometheus writes them (`500ms`, `30s`, `1m30s`), sizes in bytes or with `KiB`, `MiB` or `GiB`. "
                + "`--flag value` and `--flag=value` are the same; a switch is `--flag` or `--flag=false`.",
        ]
        manual.environment = [
            "NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID":
                "Set by systemd for a service of `Type=notify`: when the program is ready and, with a watchdog, that it "
                + "is alive is sent there. See sd_notify(3).",
            "LISTEN_FDS, LISTEN_PID": "The sockets that --web.systemd-socket takes. See sd_listen_fds(3).",
            "SOURCE_DATE_EPOCH": "With --man, the date of the page in seconds since the Unix epoch.",
        ]
        manual.files = [
            "/etc/default/air-quality-exporter":
                "Read by the systemd service that comes with the program: flags as environment variables, one a line. "
                + "Keep it unreadable to others where it holds secrets.",
            "/var/lib/air-quality-exporter/readings.sqlite":
                "Where that service has --storage.file: readings and history, kept across restarts.",
        ]
        manual.exitStatuses = [
            "0":
                "Ended by SIGTERM or SIGINT; or --config.check found nothing wrong; or `healthcheck` found the exporter "
                + "ready.",
            "1":
                "The start failed, and one line on standard error says why; or `healthcheck` found the exporter not "
                + "ready, or not there.",
        ]
        manual.signals = [
            "SIGTERM, SIGINT":
                "End: stop listening, give answers under way five seconds, close the feeds, write the storage.",
            "SIGHUP":
                "Read the files of --web.config.file again, with its certificates; what has become bad leaves the last "
                + "good ones in force. Check the files of --feed.header-file, --feed.ca-file, --feed.cert-file and "
                + "--feed.key-file, which the next connection to a feed reads.",
        ]
        manual.examples = [
            "Look at it without a feed, and open `http://localhost:10025/`:": "air-quality-exporter --feed.demo",
            "Consume a feed, keep what it said across restarts, and drop cities not heard of for a day:":
                """
            air-quality-exporter --feed.url wss://feed.example/aqi \\
                --storage.file /var/lib/air-quality-exporter/readings.sqlite \\
                --city.expire-after 1d
            """,
            "The same flags as variables, and a token that the process list does not show:":
                """
            export AIR_QUALITY_EXPORTER_FEED_URL=wss://feed.example/aqi
            export AIR_QUALITY_EXPORTER_FEED_HEADER_FILE=/etc/air-quality/header
            air-quality-exporter
            """,
            "Validate flags and files, and start only if they are right:":
                "air-quality-exporter --feed.demo --web.config.file web.yml --config.check",
            "Ask the exporter that runs with the same variables whether it is ready:":
                "air-quality-exporter healthcheck",
            "Complete commands, flags and values in bash:":
                "source <(air-quality-exporter --completion bash)",
        ]
        manual.seeAlso = [
            "air-quality-feed(1)", "prometheus(1)", "promtool(1)", "systemd.socket(5)",
        ]
        return manual
    }
}
