import CommandLine

extension Advice {
    /// Words that users type, with what to use instead: flags of other programs and of the exporter.
    static let feed = flags + commands

    private static let flags = [
        Advice(
            "-p", "--port", "--host", "--bind*", "--addr*", "--listen-*", "--http*", "--server*",
            instead: "use --listen HOST:PORT for clients, --web.listen-address :PORT for /metrics of poll"),
        Advice(
            "-k", "--key", "--api-key", "--apikey", "--token", "--secret", "--auth*", "--password*", "--user*",
            instead: "use --key-file FILE or the variable AIR_QUALITY_FEED_KEY"),
        Advice(
            "--provider*", "--api", "--open-meteo*", "--waqi*", "--openaq*", "--cpcb*",
            instead: "use poll --source open-meteo, waqi, openaq, cpcb or json"),
        Advice(
            "--city", "--city.*", "--station*", "--location*", "--lat*", "--lon*", "--country*",
            instead: "use --cities FILE, CSV with city,latitude,longitude, or --set seeds, india or capitals"),
        Advice("--scale", "--aqi*", "--standard", instead: "use --index india, us or eu"),
        Advice("-i", "--poll*", "--refresh*", "--every", "--period", "--delay", instead: "use --interval DURATION"),
        Advice("--rate-limit*", "--limit*", "--throttle", instead: "use --rate N/DURATION"),
        Advice("--mirror*", "--api-url", "--endpoint*", "--uri", instead: "use --base-url http://HOST"),
        Advice("--proxy*", instead: "use the variables http_proxy, https_proxy and no_proxy"),
        Advice("--cacert", "--tls*", "--ssl*", "--cert*", "--insecure", instead: "use --ca-file FILE"),
        Advice("-H", "--header*", instead: "use --header-file FILE for poll --source json, --header for record"),
        Advice("-f", "--file", "--csv", "--input", "--recording", instead: "use replay FILE"),
        Advice("-o", "--out", "--save*", instead: "use record URL --output FILE"),
        Advice("--loop", "--repeat", instead: "a replay starts again at its end unless --once is given"),
        Advice("-v", "-d", "--verbose", "--debug", "--log", instead: "use --log.level debug with poll or record"),
        Advice("-q", "--quiet", "--silent", instead: "use --log.level error with poll or record"),
        Advice("--log.*", "--logfile", "--syslog*", instead: "the log goes to standard error: use 2>>FILE"),
        Advice("-D", "--daemon*", "--background", instead: "it stays in the foreground; use systemd or a container"),
        Advice("-c", "--config*", "--conf", instead: "there is no such file; use variables AIR_QUALITY_FEED_…"),
        Advice("--dry-run", "--check", instead: "nothing is checked ahead; run it with --listen 127.0.0.1:0"),
        Advice("--web.*", "--telemetry*", "--metrics*", instead: "use --web.listen-address :PORT with poll"),
        Advice("-V", instead: "use --version"),
        Advice(
            "--feed.*", "--storage*", "--history*", "--demo",
            instead: "a flag of the other program, air-quality-exporter; here a feed is named by record URL"),
    ]

    private static let commands = [
        Advice("healthcheck", "probe", instead: "a command of the other program, air-quality-exporter"),
        Advice("serve", "run", "start", "demo", instead: "use simulate, poll for real air, or replay FILE"),
        Advice("fetch", "live", "open-meteo", "waqi", "openaq", "cpcb", "json", instead: "use poll --source NAME"),
        Advice("play", "*.csv", "*.jsonl", "*.json", instead: "use replay FILE, or poll --cities FILE for a list"),
        Advice("ws://*", "wss://*", instead: "use record URL, or air-quality-exporter --feed.url URL"),
        Advice("http://*", "https://*", instead: "use poll --source json --url URL --jq PROGRAM"),
        Advice("*.yml", "*.yaml", instead: "there is no such file; use variables AIR_QUALITY_FEED_…"),
    ]
}
