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

/// The source that `poll` requests, as the flags describe it.
struct PolledSource: ~Copyable {
    /// Empty for a source that a jq program reads.
    let cities: [PolledCity]
    /// Texts that the source gets, and the log does not show: the key, or the words of header values and of the query.
    let secrets: [String]
    /// Scheme and host.
    let baseURL: String
    let http: HTTPClient
    /// The program of `--source json`.
    var program: JQProgram?
    var plan: PollPlan
}

extension PolledSource {
    /// Checks the flags together, and reads their files.
    init(_ options: PollOptions, _ flags: ParsedFlags) throws {
        let name = options.source
        try Self.checkCombination(options, flags)
        let listed = try flags.content("cities", options.citiesFile, "CSV with city,latitude,longitude") {
            try PolledCity.list(csv: $0)
        }
        let cities = name == .json ? [] : try listed ?? options.set.cities
        let key = try Self.key(options, flags)
        let baseURL = options.url.flatMap(httpOrigin) ?? options.baseURL ?? name.baseURL(hasKey: key != nil)
        let rate = options.rate ?? name.rate
        let document = SourceQuery(
            path: String((options.url ?? "").dropFirst(baseURL.count)), headers: try Self.headers(options),
            subject: baseURL)
        let api = name.source(
            cities: cities, scale: options.index ?? name.givenIndex ?? .india, key: key?.text,
            maximumCost: rate.calls, document: document)
        // Read here and not by libcurl at each request, which would wait for a pipe that has taken the file's place.
        let authorities = try flags.content("ca-file", options.caFile, "certificates of authorities in PEM") { $0 }
        self.init(
            cities: cities, secrets: key.map { [$0.text] } ?? Self.secrets(in: document), baseURL: baseURL,
            // A body of twice the longest real one: a source's response costs some twenty times its size to read.
            http: try HTTPClient(
                userAgent: "air-quality-exporter/\(BuildVersion.version) (\(Program.feed.name) poll)",
                timeout: options.timeout, maximumBodyBytes: 4 << 20, authorities: authorities),
            program: try options.jq.map { try flags.using("jq", expected: "a program of jq", JQProgram($0)) },
            plan: PollPlan(
                source: name, api: api, cities: cities, keyOrigin: key?.origin, rate: rate,
                interval: options.interval, random: { .random(in: 0..<1) }))
    }

    /// The longer words in the values of a document's header fields and query, and their parts, the longest first.
    private static func secrets(in document: SourceQuery) -> [String] {
        let query = document.path.drop { $0 != "?" }.dropFirst().split(separator: "&").map { part in
            part.contains("=") ? part.drop { $0 != "=" }.dropFirst() : part
        }
        let fields = document.headers.flatMap { $0.drop { $0 != ":" }.dropFirst().split(separator: " ") }
        let words = query + fields + fields.flatMap { $0.split { ":=;,\"".contains($0) } }
        let texts = words.map { String(decoding: percentDecoded($0.utf8) ?? Array($0.utf8), as: UTF8.self) }
        return texts.filter { $0.utf8.count >= 8 }.sorted { $0.utf8.count > $1.utf8.count }
    }

    private static func checkCombination(_ options: PollOptions, _ flags: ParsedFlags) throws(FlagError) {
        let isJSON = options.source == .json
        let foreign = isJSON ? ["cities", "set", "index", "base-url", "key-file"] : ["url", "jq", "header-file"]
        if let flag = foreign.first(where: flags.isGiven) {
            let others = "another --source; json has --url, --jq, and --header-file for a key"
            throw flags.rejection(of: flag, expected: isJSON ? others : "--source json with it")
        }
        if isJSON, options.url == nil {
            throw flags.rejection(of: "url", expected: "an address with --source json")
        }
        if isJSON, options.jq == nil {
            let expected = "a program with --source json that makes objects such as {city: .name, aqi: .value}"
            throw flags.rejection(of: "jq", expected: expected)
        }
        if options.citiesFile != nil, flags.isGiven("set") {
            throw flags.rejection(of: "set", expected: "no --cities beside it")
        }
        if let given = options.source.givenIndex, options.index ?? given != given {
            let expected = "\(given.rawValue), the index that \(options.source.rawValue) gives"
            throw flags.rejection(of: "index", expected: expected)
        }
    }

    /// The key of the file, else of the environment.
    private static func key(_ options: PollOptions, _ flags: ParsedFlags) throws(FlagError) -> SourceKey? {
        let keyOfFile = try flags.content("key-file", options.keyFile, "a file with \(SourceKey.form)") { content in
            let origin = "--key-file \(quoted(options.keyFile ?? ""))"
            if let key = SourceKey(content, origin: origin) { return key }
            throw SystemError(.system, "it has something else")
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
            of: "key-file", expected: "a file with the key for \(source.rawValue), or the key in \(variable)")
    }

    /// The fields of the header file; that of authorities is read as well, because libcurl looks at it too late.
    private static func headers(_ options: PollOptions) throws -> [String] {
        var files = FeedClientOptions()
        files.prefix = ""
        files.headerFile = options.headerFile
        files.client.tls.caFile = options.caFile
        try files.checkFiles()
        return try files.headerFields().map { "\($0.name): \($0.value)" }
    }
}

extension ParsedFlags {
    /// The value of a flag's file, `nil` without the flag; `expected` names the content, of 16 MiB at most.
    fileprivate func content<Value>(
        _ flag: String, _ path: String?, _ expected: String, read: ([UInt8]) throws -> Value
    ) throws(FlagError) -> Value? {
        guard let path else { return nil }
        return try using(flag, expected: expected, read(readFile(path, limit: 16 << 20)))
    }
}
