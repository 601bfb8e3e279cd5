import CommandLine

extension Manual {
    /// What the feed's manual page says besides its flags.
    static var feed: Manual {
        var manual = Manual()
        manual.title = "serve or record a feed of Air Quality Index readings"
        manual.description = [
            "Each message of the feed is a JSON array of objects such as `{\"city\":\"Mumbai\",\"aqi\":183.2}`, as "
                + "air-quality-exporter(1) reads it. Where clients connect is printed on standard output, for example "
                + "`listening on ws://127.0.0.1:8765/`; what goes wrong later is a line on standard error.",
            "Durations are written as Prometheus writes them (`500ms`, `30s`, `1m30s`). `--flag value` and "
                + "`--flag=value` are the same; a switch is `--flag` or `--flag=false`. The flags of a command may "
                + "stand before it or behind it.",
        ]
        manual.environment = [
            PollConfiguration.keyVariable: "The key of the source that `poll` asks, where there is no --key-file.",
            "http_proxy, https_proxy, no_proxy": "The proxy by which `poll` asks the source. See curl(1).",
            "SOURCE_DATE_EPOCH": "With --man, the date of the page in seconds since the Unix epoch.",
        ]
        manual.files = [
            "/etc/default/air-quality-feed-NAME":
                "Read by the systemd service air-quality-feed@NAME that comes with the program: `FEED`, the command and "
                + "its flags, and `AIR_QUALITY_FEED_KEY`. Keep it unreadable to others where it holds a key."
        ]
        manual.exitStatuses = [
            "0": "Ended by SIGTERM or SIGINT; or `replay` with --once came to the end of its file.",
            "1": "The start failed, and one line on standard error says why.",
        ]
        manual.signals = ["SIGTERM, SIGINT": "End, after telling the clients with close status 1001."]
        manual.examples = [
            "A thousand cities, the same each time:": "air-quality-feed simulate --cities 1000 --seed 7",
            "Write down what a real feed says, and play it again ten times as fast:":
                """
            air-quality-feed record wss://feed.example/aqi --output feed.jsonl
            air-quality-feed replay feed.jsonl --speed 10
            """,
            "Real air of the world's capitals with the European index, and the exporter that shows it:":
                """
            air-quality-feed poll --set capitals --index eu &
            air-quality-exporter --feed.url ws://127.0.0.1:8765/ --aqi.scale eu \\
                --feed.time-field time --feed.pollutants-field pollutants
            """,
            "Divide the cities of a large feed among four exporters, of which this is the first:":
                """
            air-quality-feed relay wss://feed.example/aqi --shards 4 &
            air-quality-exporter --feed.url ws://127.0.0.1:8765/shard/0/4 --city.shard 0/4
            """,
            "Complete commands, flags and values in bash:": "source <(air-quality-feed --completion bash)",
        ]
        manual.seeAlso = ["air-quality-exporter(1)", "curl(1)"]
        return manual
    }
}
