import CommandLine

extension Advice {
    /// Advice for names that users type: flags of other exporters, of earlier versions, of the feed's program. The
    /// first row that has a name counts.
    static let exporter = removed + program + web + data + feed + files + commands

    private static let removed = [
        Advice(
            anywhere: "aqi.hysteresis",
            instead: "use for: and keep_firing_for: in alert rules; the category follows the index at once"),
        Advice(anywhere: "warm", instead: "use minReadySeconds of Kubernetes, or for: in alert rules"),
        Advice(anywhere: "max.listeners", instead: "the limit is fixed: 256 listeners of /events, 64 of one address"),
        Advice(
            anywhere: "web.history",
            instead: "the limit is fixed at 200,000 points; ask /history.json for less by ?city=, ?limit= or ?since="),
        Advice(anywhere: "pprof", instead: "there is no profile endpoint; use perf on the process"),
        Advice(
            anywhere: "collect",
            instead: "there are no collectors; use --metrics.families to choose the metrics of cities"),
    ]

    private static let program = [
        Advice(
            "-t -n --check",
            anywhere: "check.config config.check dry dryrun test.config config.test config.valid config.dry "
                + "validat syntax lint",
            instead: "use --config.check"),
        Advice(
            anywhere: "feed.config feeds feed.list targets",
            instead: "use --feed.file, a YAML file with a list of feeds"),
        Advice("-q -s", anywhere: "quiet silent", instead: "use --log.level error"),
        Advice(
            "--json", anywhere: "log.json log.format log.logfmt log.col no.color logformat log.time",
            instead: "use --log.format logfmt or json"),
        Advice(
            "-v -vv -vvv -d -x --log", anywhere: "verbos debug trace loglevel log.level log.verb log.debug log.trace",
            instead: "use --log.level debug; --version prints the version"),
        Advice(
            "-o", anywhere: "log. logfile syslog output",
            instead: "the log goes to standard error: use 2>>FILE, or the journal of systemd"),
        Advice(
            "-b -D", anywhere: "daemon background detach fork service nodaemon foreground",
            instead: "it stays in the foreground; use the systemd unit of the package, or a container"),
        Advice(anywhere: "pid", instead: "there is no pid file; systemd or the container knows the process"),
        Advice(
            anywhere: "run.as group chroot user.id setuid uid gid",
            instead: "set User= in the systemd unit, or the container's user"),
        Advice(
            anywhere: "runtime gomaxprocs threads workers memory go max.procs cpu",
            instead: "there is nothing to tune; limit the process with systemd or the container"),
        Advice("-V", instead: "use --version"),
        Advice("-?", anywhere: "usage man manual flags help list.flags", instead: "use --help"),
    ]

    private static let web = [
        Advice(
            "-k --ca",
            anywhere: "feed.tls feed.ssl insecure feed.skip feed.no verify skip.verify no.check feed.ca. "
                + "feed.cert cacert",
            instead: "use --feed.ca-file, --feed.cert-file, --feed.key-file or --feed.insecure-skip-verify"),
        Advice(anywhere: "telemetry.addr telemetry.listen", instead: "use --web.listen-address :PORT or host:PORT"),
        Advice(
            anywhere: "route.prefix external.url web.prefix web.base web.root web.url base.path root.path",
            instead: "a reverse proxy may strip any prefix; --web.telemetry-path moves the metrics alone"),
        Advice(
            "--path",
            anywhere: "telemetry.path telemetry.end metrics.path metrics.end web.path web.metrics web.telemetry",
            instead: "use --web.telemetry-path"),
        Advice(
            anywhere: "socket systemd web.unix",
            instead: "use --web.systemd-socket, or --web.listen-address unix:/path"),
        Advice(
            anywhere: "web.max web.conc max.requests web.limit",
            instead: "use --web.max-requests; connections are limited to 512, 128 of one address"),
        Advice(
            anywhere: "web.timeout web.read web.write web.idle web.shut",
            instead: "the deadlines are fixed: 10 s for a request's header, 60 s between requests"),
        Advice(anywhere: "cors web.allow", instead: "use --web.cors-origin"),
        Advice(anywhere: "enable.admin enable.reload lifecycle web.admin", instead: "use --web.enable-lifecycle"),
        Advice(anywhere: "grafana web.dashboard", instead: "use --web.grafana-url"),
        Advice(
            anywhere: "web.config tls ssl cert web.key web.auth web.user web.pass web.basic web.client "
                + "web.rate rate.limit web.header web.http",
            instead: "use --web.config.file, the exporter-toolkit's file with TLS, users, headers and rate limit"),
        Advice(
            anywhere: "web.disable web.enable web.ui web.console no.web web.no web.page web.title",
            instead: "pages cannot be switched off; --web.disable-exporter-metrics leaves out process_* and "
                + "promhttp_*"),
        Advice(
            "-p -l -a --port --http --https",
            anywhere: "web.port http.port metrics.port prom.port prometheus.port listen bind addr. web.address "
                + "web.host http.addr http.host http.server exporter api.addr api.host interface ip.",
            instead: "use --web.listen-address :PORT or host:PORT"),
        Advice(
            anywhere: "push remote influx graphite statsd otlp otel opentelemetry",
            instead: "metrics are scraped from /metrics; a Prometheus agent or vmagent passes them on"),
        Advice(
            anywhere: "metrics.prefix metric.prefix namespace prefix metrics.label",
            instead: "names of metrics are fixed; metric_relabel_configs of Prometheus renames them"),
        Advice(anywhere: "metrics families", instead: "use --metrics.families index,category,…"),
    ]

    private static let data = [
        Advice(anywhere: "history.file history.path storage.history", instead: "use --storage.file"),
        Advice(
            anywhere: "history.mode history.rule history.policy history.strat history.aggr",
            instead: "use --history.keep first or last"),
        Advice(
            anywhere: "history retention",
            instead: "use --history.capacity, the points kept per city, and --history.interval between them"),
        Advice(
            "--data", anywhere: "storage data.dir data.path data.file db sqlite database persist state cache",
            instead: "use --storage.file FILE, an SQLite file"),
        Advice(
            "--stale", anywhere: "ttl expir city.timeout max.age city.stale staleness stale.after",
            instead: "use --city.expire-after"),
        Advice(anywhere: "shard replica cluster", instead: "use --city.shard i/n, for example 0/4"),
        Advice(anywhere: "city.max max.cities cities.limit cardinality limit. max.series", instead: "use --city.limit"),
        Advice(
            "--aqi --index", anywhere: "scale aqi.stand aqi.cat aqi.thres aqi.index aqi.country standard country",
            instead: "use --aqi.scale india, us or eu"),
    ]

    private static let feed = [
        Advice(anywhere: "demo test mock simul sample", instead: "use --feed.demo"),
        Advice(
            anywhere: "feed.max.size feed.max.bytes feed.buffer max.message", instead: "use --feed.max-message-bytes"),
        Advice("-H", anywhere: "header user.agent feed.origin", instead: "use --feed.header 'Name: value'"),
        Advice(
            anywhere: "feed.user feed.pass login user pass basic",
            instead: "use --feed.url ws://USER:PASSWORD@host/; users of the web side stand in --web.config.file"),
        Advice(
            anywhere: "aqi.field index.field feed.field feed.metric feed.aqi feed.value key.field value.field",
            instead: "use --feed.value-field"),
        Advice(anywhere: "name.field station.field location.field", instead: "use --feed.city-field"),
        Advice(anywhere: "timestamp feed.date", instead: "use --feed.time-field"),
        Advice(anywhere: "timezone time.zone tz.", instead: "use --feed.time-zone, for example +05:30"),
        Advice(
            "--key", anywhere: "token api.key apikey feed.key. auth bearer secret credential jwt",
            instead: "use --feed.header-file with a line such as Authorization: Bearer TOKEN"),
        Advice(
            anywhere: "proxy socks",
            instead: "a feed is dialled directly; forward a local port, for example with socat"),
        Advice(
            anywhere: "mqtt kafka http.url rest feed.http",
            instead: "feeds are WebSockets; air-quality-feed poll --source json --url URL makes one of an HTTP source"),
        Advice(anywhere: "scrape.timeout", instead: "use scrape_timeout of Prometheus"),
        Advice(
            anywhere: "reconnect retry retries backoff",
            instead: "a feed is dialled again indefinitely; use --feed.reconnect-min and --feed.reconnect-max"),
        Advice(
            anywhere: "keepalive keep.alive heartbeat ping",
            instead: "use --feed.ping-interval, or --feed.subscribe-interval for a text"),
        Advice(
            anywhere: "timeout feed.read feed.stale",
            instead: "use --feed.connect-timeout for the handshake, --feed.idle-timeout for silence"),
        Advice(
            anywhere: "interval poll refresh feed.scrape frequency period update rate",
            instead: "a feed sends when it likes; use --history.interval, or scrape_interval of Prometheus"),
        Advice(anywhere: "subscri feed.message feed.send topic channel", instead: "use --feed.subscribe TEXT"),
        Advice(
            anywhere: "feed.city feed.cities city cities station location filter include exclude select only",
            instead: "use --feed.jq 'select(.city == \"Delhi\")', or --feed.city-field for the field of the name"),
        Advice(
            anywhere: "feed.path json jsonpath feed.root feed.array feed.data feed.pointer format schema "
                + "mapping type transform jq parser template",
            instead: "use --feed.items, --feed.city-field and --feed.value-field, or --feed.jq for any other shape"),
        Advice(
            anywhere: "label external.label feed.id name.",
            instead: "use --feed.name for the feed label, relabel_configs of Prometheus for others"),
        Advice(
            anywhere: "source set. key.file base.url url.file waqi openaq cpcb open.meteo",
            instead: "a flag of air-quality-feed poll, whose feed this program reads by --feed.url"),
        Advice(
            "-u --feed",
            anywhere: "feed.uri feed.addr feed.host feed.port feed.end feed.server feed.url scrape.url "
                + "source.url url. uri. address. endpoint. host. server. ws wss websocket target connect",
            instead: "use --feed.url ws://host:port/path"),
    ]

    private static let files = [
        Advice(
            "-c -f", anywhere: "conf config file settings env",
            instead: "there is no file of flags; use variables, --feed.file for feeds, --web.config.file for "
                + "TLS and users")
    ]

    private static let commands = [
        Advice("poll replay record simulate", instead: "a command of the other program, air-quality-feed"),
        Advice(
            "relay",
            instead: "there is no relay; each exporter reads the feed itself, --city.shard i/n keeps its cities"),
        Advice("demo test try sample mock", instead: "use --feed.demo"),
        Advice(
            "serve server run start exporter daemon up web listen export scrape monitor agent watch",
            instead: "no command is needed: air-quality-exporter --feed.url ws://host/path"),
        Advice("stop restart kill quit shutdown down", instead: "use systemctl, or send SIGTERM to the process"),
        Advice("reload", instead: "send SIGHUP to the process, or POST /-/reload with --web.enable-lifecycle"),
        Advice("reconnect", instead: "POST /-/reconnect with --web.enable-lifecycle"),
        Advice("status health ping ready readiness liveness", instead: "use healthcheck, or request /-/ready"),
        Advice("check validate config check-config lint configtest", instead: "use --config.check"),
        Advice(
            "install service enable setup",
            instead: "install the Debian package, which has a systemd unit, or use the container"),
        Advice(
            "metrics history cities list show get dump query",
            instead: "request /metrics or /history.json of a running exporter"),
        Advice("inspect explain debug dial connect", instead: "use probe URL"),
        Advice("man usage ? /? /h /help", instead: "use --help"),
        Advice("*.yml *.yaml", instead: "use --feed.file for feeds, --web.config.file for TLS and users"),
        Advice("http://* https://*", instead: "a feed is a WebSocket: --feed.url ws://host/path or wss://host/path"),
    ]
}
