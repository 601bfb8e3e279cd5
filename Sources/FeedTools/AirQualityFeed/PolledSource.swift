import AirQualityIndex
import AirSources
import Bytes
import CommandLine
import FeedOptions
import HTTPClient
import HTTPText
import JQ
import System
import WebSocket

/// The source that `poll` requests, as configured by the flags.
struct PolledSource: ~Copyable {
    /// The cities to request; empty for a source read by a jq program.
    let cities: [PolledCity]
    /// Texts sent to the source: the key, or values of header fields and of the query. Masked in the log, which quotes
    /// the source.
    let secrets: [String]
    /// Scheme, host and port.
    let baseURL: String
    let http: HTTPClient
    /// The program of `--source json`.
    var program: JQProcess?
    var plan: PollPlan
}

extension PolledSource {
    /// Checks the combination of flags, and reads the files they name.
    init(_ options: PollOptions, _ flags: ParsedFlags) throws {
        let source = options.source
        try Self.checkCombination(options, flags)
        let listed = try flags.content("cities", options.citiesFile, "CSV with city,latitude,longitude") {
            try PolledCity.list(csv: $0)
        }
        let cities = source == .json ? [] : try listed ?? options.set.cities()
        let key = try Self.key(options, flags)
        let baseURL = options.url.flatMap(httpOrigin) ?? options.baseURL ?? source.baseURL(hasKey: key != nil)
        let rate = options.rate ?? source.rate
        let headers = try Self.headers(options, flags)
        let document = SourceQuery(
            path: String((options.url ?? "").dropFirst(baseURL.count)),
            headers: headers.map { "\($0.name): \($0.value)" }, subject: baseURL)
        let parameters = document.path.drop { $0 != "?" }.dropFirst().split(separator: "&").map { parameter in
            String(decoding: percentDecoded(parameter.drop { $0 != "=" }.dropFirst().utf8) ?? [], as: UTF8.self)
        }
        let words = headers.flatMap { $0.value.split(separator: " ").map(String.init) } + parameters
        let secrets = key.map { [$0.text] } ?? words.filter { $0.utf8.count >= 8 }
        let api = source.api(
            DataSource.Setup(
                cities: cities, scale: options.scale ?? source.givenScale ?? .india, key: key?.text,
                maximumCost: rate.calls, document: document))
        // libcurl would read the file at each request, and block on it if it has been replaced by a pipe.
        let authorities = try flags.content("ca-file", options.caFile, "certificates of authorities in PEM") { $0 }
        self.init(
            cities: cities, secrets: secrets, baseURL: baseURL,
            // The limit is twice the largest real body. Decoding takes about 20 times the body's size in memory.
            http: try HTTPClient(
                userAgent: Program.userAgent(of: "poll"), timeout: options.timeout, maximumBodyBytes: 4 << 20,
                authorities: authorities),
            program: try options.jq.map { try flags.using("jq", expected: "a jq program", Self.program($0)) },
            plan: PollPlan(
                source: source, api: api, cities: cities,
                keyOrigin: key?.origin ?? options.headerFile.map { "--header-file \(quoted($0))" }, rate: rate,
                interval: options.interval, random: { .random(in: 0..<1) }))
    }

    /// Compiles a program, and adds the time of the response to elements without one, or each repetition would count
    /// as a new reading.
    private static func program(_ text: String) throws(SystemError) -> JQProcess {
        // Compiled on its own first, so that jq's error message refers to the user's text.
        let prelude = IndexScale.jqDefinitions
        try JQProgram(text, prelude: prelude).check()
        let rest = "| [.] | flatten(1) | map((objects | .time) //= (now | floor))"
        if let process = try? JQProcess([JQProgram("(\(text)\n) \(rest)", prelude: prelude)]) { return process }
        // To jq, comments and definitions alone mean the input itself.
        return try JQProcess([JQProgram("(\(text)\n.) \(rest)", prelude: prelude)])
    }

    private static func checkCombination(_ options: PollOptions, _ flags: ParsedFlags) throws(FlagError) {
        func require(_ isUsable: Bool, _ flag: String, _ expected: String) throws(FlagError) {
            if !isUsable { throw flags.rejection(of: flag, expected: expected) }
        }
        let isJSON = options.source == .json
        for flag in isJSON ? ["cities", "set", "index", "base-url", "key-file"] : ["url", "jq", "header-file"] {
            let others = "another --source; json has --url, --jq, and --header-file for a key"
            try require(!flags.isGiven(flag), flag, isJSON ? others : "--source json with it")
        }
        try require(!isJSON || options.url != nil, "url", "an address with --source json")
        try require(
            !isJSON || options.jq != nil, "jq",
            "a program with --source json that makes objects such as {city: .name, aqi: .value}")
        try require(options.citiesFile == nil || !flags.isGiven("set"), "set", "--set or --cities, not both")
        if let given = options.source.givenScale {
            let expected = "\(given.rawValue), the index that \(options.source.name) gives"
            try require(options.scale ?? given == given, "index", expected)
        }
    }

    /// Returns the key from the file, else from the environment.
    private static func key(_ options: PollOptions, _ flags: ParsedFlags) throws(FlagError) -> SourceKey? {
        let keyOfFile = try flags.content("key-file", options.keyFile, "a file with \(SourceKey.form)") { content in
            let origin = "--key-file \(quoted(options.keyFile ?? ""))"
            if let key = SourceKey(content, origin: origin) { return key }
            throw SystemError(.content, "it has something else")
        }
        if let keyOfFile { return keyOfFile }
        let source = options.source
        let variable = PollOptions.keyVariable
        if source != .json, let text = environmentVariables()[variable], !text.isEmpty {
            if let key = SourceKey(text.utf8, origin: variable) { return key }
            throw FlagError("\(variable) ***: expected \(SourceKey.form)")
        }
        guard source.needsKey else { return nil }
        throw flags.rejection(
            of: "key-file", expected: "a file with the key for \(source.name), or the key in \(variable)")
    }

    /// Returns the fields of the header file. Also checks the file of authorities, which libcurl would read too late.
    private static func headers(_ options: PollOptions, _ flags: ParsedFlags) throws -> [HTTPField] {
        var files = FeedClientOptions()
        files.prefix = ""
        files.headerFile = options.headerFile
        files.connection.tls.caFile = options.caFile
        try flags.check(files.checkFiles)
        return try files.headerFields()
    }
}

extension ParsedFlags {
    /// Parses a flag's file of at most 16 MiB, whose content an error calls `expected`; `nil` without a path.
    fileprivate func content<Value>(
        _ flag: String, _ path: String?, _ expected: String, read: ([UInt8]) throws -> Value
    ) throws(FlagError) -> Value? {
        guard let path else { return nil }
        return try using(flag, expected: expected, read(readFile(path, limit: 16 << 20)))
    }
}
