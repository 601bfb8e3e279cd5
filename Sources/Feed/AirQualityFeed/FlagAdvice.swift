import CommandLine

extension Advice {
    /// Words that users type, with what to use instead: flags of other programs, of earlier versions, of the exporter.
    static let feed = flags + exporterFlags + commands

    private static let flags = [
        Advice(
            "--shards", "--city-field", "--value-field", "--expire-after",
            instead: "a flag of relay, which is gone; each exporter reads the feed itself, with --city.shard i/n"),
        Advice(
            "-p", "-a", "-l", "--port", "--host", "--bind*", "--address", "--listen-*", "--addr", "--http*",
            "--web.port",
            "--feed.listen*", "--server.*", "--ws*", "--listen.*",
            instead: "use --listen HOST:PORT for clients, --web.listen-address :PORT for /metrics of poll"),
        Advice(
            "-k", "--key", "--api-key", "--apikey", "--token", "--api-token", "--secret", "--auth*", "--password*",
            "--user*", "--credential*", "--bearer*", "--poll.key*", "--waqi.*", "--openaq.*", "--cpcb.*",
            instead: "use --key-file FILE or the variable AIR_QUALITY_FEED_KEY"),
        Advice(
            "-s", "--provider*", "--backend*", "--api", "--api.*", "--from", "--service", "--vendor*", "--data-source*",
            "--source.*", "--open-meteo*", "--waqi", "--openaq", "--cpcb",
            instead: "use poll --source open-meteo, waqi, openaq, cpcb or json"),
        Advice(
            "-c", "--city", "--cities-file", "--city.*", "--stations*", "--location*", "--places*", "--lat*", "--lon*",
            "--country*", "--region*", "--coordinates", "--cities.*",
            instead: "use --cities FILE, CSV with city,latitude,longitude, or --set seeds, india or capitals"),
        Advice("--scale", "--aqi*", "--standard", "--index.*", instead: "use --index india, us or eu"),
        Advice(
            "-i", "-n", "--poll.interval", "--poll-interval", "--refresh*", "--every", "--period", "--frequency",
            "--delay",
            "--sleep", instead: "use --interval DURATION"),
        Advice(
            "--rate-limit*", "--limit*", "--max-rate", "--throttle", "--qps", "--rps",
            instead: "use --rate "
                + "N/DURATION"),
        Advice(
            "--mirror*", "--host-url", "--api-url", "--endpoint*", "--server", "--uri",
            instead: "use --base-url http://HOST"),
        Advice(
            "--proxy*", "--http-proxy", "--https-proxy", "--socks*",
            instead: "use the variables http_proxy, https_proxy and no_proxy"),
        Advice(
            "--cacert", "--ca", "--tls*", "--ssl*", "--cert*", "--insecure", "--no-verify",
            instead: "use --ca-file FILE"),
        Advice(
            "--header*", "-H", "--http.header*",
            instead: "use --header-file FILE for poll --source json, --header for record"),
        Advice("--file", "--csv", "--input", "--recording", "--path", "--replay*", instead: "use replay FILE"),
        Advice("-o", "--out", "--to", "--save*", "--write*", "--record*", instead: "use record URL --output FILE"),
        Advice("--loop", "--repeat", "--no-loop", instead: "a replay starts again at its end unless --once is given"),
        Advice("--faster", "--slow*", "--factor", "--fast", instead: "use --speed FACTOR"),
        Advice("--random*", "--rng*", instead: "use --seed N"),
        Advice("--count", "--size", "--number", "--num-cities", instead: "use --cities N"),
        Advice("--noise", "--trend", "--walk", "--volatility", instead: "use --drift POINTS"),
        Advice("--probability", "--share", "--sample*", instead: "use --coverage SHARE"),
        Advice(
            "-v", "-vv", "-d", "--verbose", "--debug", "--trace", "--loglevel", "--log", "--verbosity",
            instead: "use --log.level debug with poll or record"),
        Advice("-q", "--quiet", "--silent", instead: "use --log.level error with poll or record"),
        Advice(
            "--log.file", "--logfile", "--log.output", "--syslog*", "--log.path",
            instead: "the log goes to standard error: use 2>>FILE"),
        Advice(
            "-D", "-b", "--daemon*", "--background", "--detach", "--fork",
            instead: "it stays in the foreground; use systemd or a container"),
        Advice("--pid*", instead: "there is no pid file; systemd or the container knows the process"),
        Advice(
            "-f", "--config*", "--conf", "--settings", "--env-file",
            instead: "there is no file of flags; use variables AIR_QUALITY_FEED_…"),
        Advice(
            "-t", "--dry-run", "--check", "--validate*", "--test*",
            instead: "nothing is checked ahead; run it with --listen 127.0.0.1:0"),
        Advice(
            "--web.config*", "--web.*", "--telemetry*", "--metrics*",
            instead: "use --web.listen-address :PORT with poll for /metrics, /-/healthy and /-/ready"),
        Advice("-V", instead: "use --version"),
        Advice("-?", "--usage", "--man", instead: "use --help"),
    ]

    private static let exporterFlags = [
        Advice(
            "--feed.*", "--storage*", "--history*", "--city.limit", "--city.shard", "--demo", "--log.rotate*",
            instead: "a flag of the other program, air-quality-exporter; here a feed is named by record URL")
    ]

    private static let commands = [
        Advice(
            "relay", instead: "there is no relay any more; each exporter reads the feed itself, with --city.shard i/n"),
        Advice("healthcheck", "probe", instead: "a command of the other program, air-quality-exporter"),
        Advice(
            "serve", "server", "run", "start", "daemon", "up", "feed", "demo", "test", "mock", "fake", "random",
            "generate",
            instead: "use simulate for made-up readings, poll for real ones, replay FILE for recorded ones"),
        Advice("play", "playback", "file", instead: "use replay FILE"),
        Advice(
            "fetch", "pull", "live", "real", "open-meteo", "waqi", "openaq", "cpcb", "scrape", "get", "json",
            instead: "use poll --source open-meteo, waqi, openaq, cpcb or json"),
        Advice("capture", "save", "dump", "log", "listen", "tail", "read", instead: "use record URL --output FILE"),
        Advice(
            "stop", "restart", "kill", "quit", "reload", "status",
            instead: "use systemctl, or send SIGTERM to the process"),
        Advice("check", "validate", "config", instead: "nothing is checked ahead; run it with --listen 127.0.0.1:0"),
        Advice(
            "ws://*", "wss://*",
            instead: "use record URL to write a feed down; air-quality-exporter --feed.url URL reads it"),
        Advice("http://*", "https://*", instead: "use poll --source json --url URL --jq PROGRAM"),
        Advice(
            "*.csv", "*.jsonl", "*.json", "*.ndjson",
            instead: "use replay FILE, or poll --cities FILE for a list of cities"),
        Advice(
            "*.yml", "*.yaml", "*.conf", "*.toml",
            instead: "there is no file of flags; use variables AIR_QUALITY_FEED_…"),
        Advice("man", "usage", "?", "/?", "/h", "/help", instead: "use --help"),
    ]
}
