import CommandLine

extension Advice {
    /// Advice for names that users type: flags of other exporters, of earlier versions, of the feed's program.
    static let exporter = removed + feedFlags + webFlags + programFlags + commands

    private static let removed = [
        Advice(
            "--aqi.hysteresis",
            instead: "use for: and keep_firing_for: in alert rules; the category follows the index at once"),
        Advice("--feed.warm-up", instead: "use minReadySeconds of Kubernetes, or for: in alert rules"),
        Advice("--web.max-listeners", instead: "the limit is fixed: 256 listeners of /events, 64 of one address"),
        Advice(
            "--web.history-limit",
            instead: "the limit is fixed at 200,000 points; ask /history.json for less by ?city=, ?limit= or ?since="),
        Advice(
            "--collect*", "--web.collect*", "--no-collect*",
            instead: "there are no collectors; use --metrics.families to choose the metrics of cities"),
    ]

    private static let feedFlags = [
        Advice("--feed.demo.*", "--demo", "--test", "--mock", "--simulate", "--sample", instead: "use --feed.demo"),
        Advice(
            "-u", "--feed", "--url", "--feed.uri", "--feed.address", "--feed.host", "--feed.port", "--feed.endpoint",
            "--feed.server", "--feed.urls", "--address", "--endpoint", "--uri", "--host", "--server", "--ws", "--wss",
            "--websocket*", "--target", "--scrape.url", "--connect", "--source.url",
            instead: "use --feed.url ws://host:port/path"),
        Advice(
            "--feed.token", "--token", "--feed.api-key", "--api-key", "--apikey", "--feed.apikey", "--feed.key",
            "--key", "--feed.auth*", "--auth*", "--bearer*", "--feed.bearer*", "--feed.secret", "--secret",
            "--feed.credentials*", "--credentials*", "--feed.jwt", "--feed.token-file", "--token-file",
            instead: "use --feed.header-file with a line such as Authorization: Bearer TOKEN"),
        Advice(
            "--feed.user*", "--feed.pass*", "--feed.login", "--user*", "--pass*", "--login", "--basic-auth*",
            "--feed.basic-auth*",
            instead: "use --feed.url ws://USER:PASSWORD@host/ or --feed.header-file; "
                + "users of the web side stand in --web.config.file"),
        Advice(
            "-H", "--header*", "--headers", "--feed.headers", "--feed.http-header*",
            instead: "use --feed.header 'Name: value'"),
        Advice(
            "--feed.proxy*", "--proxy*", "--http-proxy", "--https-proxy", "--socks*", "--feed.http-proxy",
            instead:
                "a feed is dialled directly; forward a local port, for example with socat, and name it in --feed.url"),
        Advice(
            "--feed.interval", "--feed.poll*", "--feed.refresh*", "--feed.scrape*", "--feed.frequency", "--feed.period",
            "--poll*", "--scrape.interval", "--scrape-interval", "--refresh*", "--update*", "--feed.rate",
            instead: "a feed sends when it likes; --history.interval thins the history, "
                + "scrape_interval of Prometheus the samples"),
        Advice("--scrape.timeout*", "--scrape-timeout", instead: "use scrape_timeout of Prometheus"),
        Advice(
            "--interval", instead: "use --history.interval for the history, scrape_interval of Prometheus for samples"),
        Advice(
            "--feed.timeout", "--feed.read-timeout", "--feed.message-timeout", "--feed.stale*",
            instead: "use --feed.connect-timeout for the handshake, --feed.idle-timeout for silence"),
        Advice(
            "--feed.reconnect", "--feed.reconnect-interval", "--feed.reconnect-delay", "--feed.retry*",
            "--feed.retries",
            "--feed.max-retries", "--feed.backoff*", "--reconnect*", "--retry*", "--retries", "--max-retries",
            "--backoff*",
            instead: "a feed is dialled again indefinitely; use --feed.reconnect-min and --feed.reconnect-max"),
        Advice(
            "--feed.keepalive*", "--feed.keep-alive*", "--feed.heartbeat*", "--keepalive*", "--keep-alive*",
            "--heartbeat*", "--feed.ping", "--ping*",
            instead: "use --feed.ping-interval, or --feed.subscribe-interval for a text"),
        Advice(
            "--feed.tls*", "--feed.ssl*", "--feed.insecure", "--feed.skip-verify*", "--feed.no-verify*",
            "--feed.verify*", "-k", "--insecure*", "--no-check-certificate", "--tls-skip-verify", "--skip-verify",
            "--feed.ca", "--feed.cacert", "--feed.cert", "--cacert", "--ca-file", "--ca",
            instead: "use --feed.ca-file, --feed.cert-file and --feed.key-file, "
                + "or --feed.insecure-skip-verify to check nothing"),
        Advice(
            "--feed.city", "--feed.city-name", "--feed.cities", "--city", "--cities", "--cities.*", "--city.list",
            "--city.filter",
            "--city.include*", "--city.exclude*", "--filter*", "--feed.filter*", "--feed.include*", "--feed.exclude*",
            "--feed.select*", "--include*", "--exclude*", "--feed.only*",
            instead:
                "use --feed.jq 'select(.city == \"Delhi\")' to choose cities, --feed.city-field for the field of "
                + "the name"
        ),
        Advice(
            "--feed.path", "--feed.json-path", "--feed.jsonpath", "--feed.root", "--feed.array", "--feed.data",
            "--feed.pointer", "--feed.format", "--feed.schema", "--feed.mapping*", "--feed.type", "--json.*",
            "--jsonpath*",
            "--feed.transform*", "--jq", "--format", "--feed.parser", "--feed.template",
            instead: "use --feed.items for the place of the array, --feed.city-field and --feed.value-field for the "
                + "fields, or --feed.jq for any other shape"),
        Advice(
            "--feed.aqi-field", "--feed.index-field", "--feed.aqi", "--feed.value", "--feed.field*", "--feed.key-field",
            "--feed.metric*", "--value-field", instead: "use --feed.value-field"),
        Advice("--feed.name-field", "--feed.station-field", "--feed.location-field", instead: "use --feed.city-field"),
        Advice("--feed.timestamp-field", "--feed.date-field", "--feed.timestamp*", instead: "use --feed.time-field"),
        Advice(
            "--feed.timezone", "--timezone", "--time-zone", "--tz",
            instead: "use --feed.time-zone, for example "
                + "+05:30"),
        Advice(
            "--feed.label", "--feed.id", "--name", "--label*", "--external-labels", "--feed.labels",
            instead: "use --feed.name for the feed label, relabel_configs of Prometheus for others"),
        Advice(
            "--feed.max-size", "--feed.max-bytes", "--feed.buffer*", "--feed.max-message-size", "--max-message*",
            instead: "use --feed.max-message-bytes"),
        Advice(
            "--feed.message", "--feed.send", "--feed.subscription*", "--feed.topic*", "--feed.channel*", "--subscribe*",
            "--topic*",
            instead: "use --feed.subscribe TEXT"),
        Advice(
            "--feeds", "--feeds.*", "--feed.config*", "--feed.list", "--feeds-file", "--targets", "--targets.*",
            instead: "use --feed.file, a YAML file with a list of feeds"),
        Advice(
            "--mqtt*", "--kafka*", "--http.url", "--rest*", "--feed.http*", "--feed.mqtt*",
            instead: "feeds are WebSockets; air-quality-feed poll --source json --url URL makes one of an HTTP source"),
        Advice(
            "--source", "--source.*", "--set", "--key-file", "--base-url", "--url-file", "--waqi*", "--openaq*",
            "--cpcb*", "--open-meteo*", "--index",
            instead: "a flag of air-quality-feed poll, whose feed this program reads by --feed.url"),
        Advice(
            "--scale", "--aqi", "--aqi.standard", "--standard", "--aqi.categories", "--aqi.thresholds", "--aqi.index",
            "--aqi.country", "--country",
            instead: "use --aqi.scale india, us or eu"),
    ]

    private static let webFlags = [
        Advice(
            "-p", "-l", "-a", "--port", "--web.port", "--web.listen", "--web.address", "--web.host", "--web.bind*",
            "--listen*", "--bind*",
            "--addr", "--http*", "--web.listen-port", "--metrics.port", "--metrics-port", "--metrics.listen*",
            "--server.*",
            "--telemetry.addr*", "--telemetry.address", "--telemetry.listen*", "--telemetry.endpoint",
            "--web.telemetry-address", "--prometheus.port",
            "--exporter.port", "--exporter.*", "--api.*", "--interface", "--ip",
            instead: "use --web.listen-address :PORT or host:PORT"),
        Advice(
            "--telemetry.path", "--telemetry-path", "--metrics.path", "--metrics-path", "--metrics.endpoint",
            "--web.path", "--web.metrics-path",
            "--path", "--web.telemetry", instead: "use --web.telemetry-path"),
        Advice(
            "--web.route-prefix", "--web.external-url", "--web.prefix", "--web.base*", "--web.root*", "--web.url*",
            "--base-path",
            "--external-url", "--route-prefix", "--root-path",
            instead: "links of the pages are relative, so a reverse proxy may strip any prefix; "
                + "--web.telemetry-path moves the metrics alone"),
        Advice(
            "--web.config", "--web.config-file", "--web-config*", "--web.tls*", "--web.ssl*", "--tls*", "--ssl*",
            "--cert*",
            "--web.cert*", "--web.key*", "--web.auth*", "--web.user*", "--web.pass*", "--web.basic*", "--https*",
            "--web.https*",
            "--web.client-ca*", "--web.rate-limit*", "--rate-limit*", "--web.header*", "--web.http2*",
            instead: "use --web.config.file, the exporter-toolkit's file with TLS, users, headers and rate limit"),
        Advice(
            "--web.max-connections", "--web.max-conn*", "--web.concurrency", "--max-requests", "--web.max-clients",
            "--web.limit*",
            instead: "use --web.max-requests; connections are limited to 512, 128 of one address"),
        Advice(
            "--web.timeout", "--web.read-timeout", "--web.write-timeout", "--web.idle-timeout", "--web.shutdown*",
            instead: "the deadlines of the web side are fixed: 10 s for a request's header, 60 s between requests"),
        Advice("--web.cors*", "--cors*", "--web.allow-origin", instead: "use --web.cors-origin"),
        Advice(
            "--web.enable-admin-api", "--web.enable-reload", "--web.lifecycle", "--enable-lifecycle", "--web.admin*",
            instead: "use --web.enable-lifecycle"),
        Advice("--web.grafana", "--grafana*", "--web.dashboard*", instead: "use --web.grafana-url"),
        Advice(
            "--web.disable-*", "--web.enable-*", "--web.ui*", "--web.console*", "--no-web*", "--web.no-*",
            "--web.page*", "--web.title",
            instead: "pages cannot be switched off; --web.disable-exporter-metrics leaves out process_* and "
                + "promhttp_*"),
        Advice(
            "--web.pprof*", "--pprof*", "--debug.pprof*", "--web.enable-pprof",
            instead: "there is no profile endpoint; use perf on the process"),
        Advice(
            "--web.socket*", "--socket*", "--systemd*", "--web.systemd*", "--web.unix*",
            instead: "use --web.systemd-socket, or --web.listen-address unix:/path"),
        Advice(
            "--push*", "--pushgateway*", "--remote-write*", "--remote.*", "--influx*", "--graphite*", "--statsd*",
            "--otlp*", "--otel*", "--opentelemetry*",
            instead:
                "metrics are scraped from /metrics; a Prometheus agent, vmagent or OpenTelemetry collector "
                + "passes them on"
        ),
        Advice(
            "--metrics", "--metrics.enable*", "--metrics.disable*", "--metrics.include*", "--metrics.exclude*",
            "--families", "--metrics.filter*",
            instead: "use --metrics.families index,category,…"),
        Advice(
            "--metrics.prefix", "--metrics.namespace", "--metric-prefix", "--namespace", "--prefix", "--metrics.labels",
            instead: "names of metrics are fixed; metric_relabel_configs of Prometheus renames them"),
    ]

    private static let programFlags = [
        Advice(
            "-c", "-f", "--config", "--config.file", "--config-file", "--conf", "--config.path", "--config.reload*",
            "--file", "--settings",
            "--config.dir", "--config.expand-env", "--env-file", "--env",
            instead:
                "there is no file of flags; use variables AIR_QUALITY_EXPORTER_…, --feed.file for feeds, "
                + "--web.config.file for TLS and users"
        ),
        Advice(
            "-t", "-n", "--check", "--dry-run", "--dryrun", "--test-config", "--validate*", "--config.test",
            "--config.validate",
            "--config.dry-run", "--check-config", "--syntax-only", "--config.check-only", "--lint",
            instead: "use --config.check"),
        Advice(
            "-v", "-vv", "-vvv", "-d", "--verbose", "--debug", "--trace", "--log.verbose", "--log.debug", "--debug.*",
            "--loglevel", "--log",
            "--log-level", "--verbosity", "--log.verbosity", "--log.trace", "-x",
            instead: "use --log.level debug; --version prints the version"),
        Advice("-q", "-s", "--quiet", "--silent", "--log.quiet", instead: "use --log.level error"),
        Advice(
            "--log.json", "--log-format", "--json", "--log.logfmt", "--log.color", "--log.colour", "--no-color",
            "--logformat", "--log.timestamp*",
            instead: "use --log.format logfmt or json"),
        Advice(
            "-o", "--log.file", "--logfile", "--log-file", "--log.output", "--log.path", "--log.dir", "--log.rotate*",
            "--log.max*", "--syslog*",
            "--log.syslog", "--log.journal*", "--log.target", "--log.stdout", "--output",
            instead: "the log goes to standard error: use 2>>FILE, or the journal of systemd"),
        Advice(
            "-b", "-D", "--daemon*", "--background", "--detach", "--fork", "--service", "--service.*", "--nodaemon",
            "--foreground",
            instead: "it stays in the foreground; use the systemd unit of the package, or a container"),
        Advice("--pid*", "--pidfile", instead: "there is no pid file; systemd or the container knows the process"),
        Advice(
            "--run-as*", "--group", "--chroot*", "--user.*", "--setuid", "--uid", "--gid",
            instead: "set User= in the systemd unit, or the container's user"),
        Advice(
            "--runtime.*", "--gomaxprocs", "--threads", "--workers", "--memory*", "--go.*", "--max-procs", "--cpu*",
            "--no-runtime*",
            instead: "there is nothing to tune; limit the process with systemd or the container"),
        Advice(
            "--storage.path", "--storage", "--storage.tsdb*", "--storage.dir*", "--storage.local*", "--data*", "--db*",
            "--database*", "--sqlite*",
            "--persistence*", "--state*", "--storage.db", "--storage.sqlite", "--cache*", "--storage.backend",
            "--storage.folder", "--storage.url",
            instead: "use --storage.file FILE, an SQLite file"),
        Advice(
            "--storage.retention*", "--retention*", "--history.retention*", "--history.size", "--history.limit",
            "--history.points", "--history.length", "--history.max*", "--history.duration", "--history.days",
            "--history", "--history.count",
            instead: "use --history.capacity, the points kept per city, and --history.interval between them"),
        Advice(
            "--history.mode", "--history.rule", "--history.policy", "--history.strategy", "--history.aggregation",
            instead: "use --history.keep first or last"),
        Advice("--history.file", "--history.path", "--storage.history", instead: "use --storage.file"),
        Advice(
            "--city.ttl", "--city.timeout", "--city.expiry", "--city.expire", "--city.max-age", "--expire*", "--ttl",
            "--city.stale*", "--staleness*", "--stale*", "--max-age",
            instead: "use --city.expire-after"),
        Advice(
            "--city.max", "--city.maximum", "--city.max-count", "--max-cities", "--cities.limit", "--cardinality*",
            "--limit*", "--max-series", instead: "use --city.limit"),
        Advice(
            "--shard*", "--shards", "--replica*", "--cluster*", "--city.shards", "--sharding*", "--city.shard-count",
            "--city.shard-index",
            instead: "use --city.shard i/n, for example 0/4"),
        Advice("-V", instead: "use --version"),
        Advice("-?", "--usage", "--man", "--manual", "--flags", "--help-*", "--list-flags", instead: "use --help"),
    ]

    private static let commands = [
        Advice(
            "poll", "replay", "record", "simulate", instead: "a command of the other program, air-quality-feed"),
        Advice(
            "relay",
            instead:
                "there is no relay any more; each exporter reads the feed itself, --city.shard i/n keeps its cities"),
        Advice("demo", "test", "try", "sample", "mock", instead: "use --feed.demo"),
        Advice(
            "serve", "server", "run", "start", "exporter", "daemon", "up", "web", "listen", "export", "scrape",
            "monitor", "agent", "watch",
            instead: "no command is needed: air-quality-exporter --feed.url ws://host/path"),
        Advice(
            "stop", "restart", "kill", "quit", "shutdown", "down",
            instead: "use systemctl, or send SIGTERM to the process"),
        Advice("reload", instead: "send SIGHUP to the process, or POST /-/reload with --web.enable-lifecycle"),
        Advice("reconnect", instead: "POST /-/reconnect with --web.enable-lifecycle"),
        Advice(
            "status", "health", "ping", "ready", "readiness", "liveness",
            instead: "use healthcheck, or request /-/ready"),
        Advice("check", "validate", "config", "check-config", "lint", "configtest", instead: "use --config.check"),
        Advice(
            "install", "service", "enable", "setup",
            instead: "install the Debian package, which has a systemd unit, or use the container"),
        Advice(
            "metrics", "history", "cities", "list", "show", "get", "dump", "query",
            instead: "request /metrics or /history.json of a running exporter"),
        Advice("inspect", "explain", "debug", "dial", "connect", instead: "use probe URL"),
        Advice("man", "usage", "?", "/?", "/h", "/help", instead: "use --help"),
        Advice("*.yml", "*.yaml", instead: "use --feed.file for feeds, --web.config.file for TLS and users"),
        Advice("http://*", "https://*", instead: "a feed is a WebSocket: --feed.url ws://host/path or wss://host/path"),
    ]
}
