import AirQualityIndex
import AirSources
import CommandLine
import System

struct PollOptions: Options {
    static let keyVariable = "AIR_QUALITY_FEED_KEY"

    var listen = ListenAddress.localhost
    var source = DataSource.openMeteo
    /// `nil` to use `set`.
    var citiesFile: String?
    var set = CitySet.seeds
    var scale: IndexScale?
    var interval = Duration.seconds(15 * 60)
    var keyFile: String?
    var baseURL: String?
    var url: String?
    var jq: String?
    var headerFile: String?
    var caFile: String?
    var rate: CallRate?
    var timeout = Duration.seconds(30)
    var webListenAddresses: [ListenAddress] = []
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.logfmt

    /// How long a value is sent without confirmation by the source: 15 min longer than the interval, and at least 3 h.
    var lifetime: Duration { max(.seconds(3 * 3600), interval + .seconds(15 * 60)) }

    static let flags: [Flag<Self>] = [
        .listen(\.listen),
        Flag(
            "source", \.source, .one(of: DataSource.all, named: \.name),
            "Where the data comes from: \(list(of: DataSource.all.map(\.name)))."),
        Flag(
            "cities", \.citiesFile, .file, "CSV with the columns city, latitude, longitude, optionally id and country."),
        Flag("set", \.set, .choice, "Built-in list of cities: seeds, india or capitals."),
        Flag("index", \.scale, .choice, "india, us or eu; by default the one that the source gives, else india."),
        Flag("interval", \.interval, .duration(from: .seconds(1)), "Time between two rounds of requests."),
        Flag("key-file", \.keyFile, .file, "File with the source's API key, if it needs one."),
        Flag("base-url", \.baseURL, .origin, secrecy: .address, "Scheme and host of a mirror of the source."),
        Flag("url", \.url, .address, secrecy: .address, "Address that --source json requests."),
        Flag(
            "jq", \.jq, .text, placeholder: "PROGRAM",
            "jq program for --source json; its results are objects with city, aqi and the other fields of the feed."),
        Flag(
            "header-file", \.headerFile, .file,
            "File with header fields for the requests of --source json, one per line."),
        Flag("ca-file", \.caFile, .file, "Certificate authorities, PEM; the system's by default."),
        Flag("rate", \.rate, .callRate, "Maximum rate of requests; each source has a default within its limits."),
        Flag("timeout", \.timeout, .timeout, "Maximum time for a complete response."),
        Flag(
            "web.listen-address", \.webListenAddresses, .listenAddress,
            "Address for /metrics, /-/healthy and /-/ready."),
        .logLevel(\.logLevel), .logFormat(\.logFormat),
    ]
}
