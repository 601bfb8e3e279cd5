import AirQualityIndex
import AirSources
import Bytes
import CommandLine
import FeedOptions
import HTTPClient
import HTTPText
import System

/// The checked settings of `poll`.
struct PollConfiguration {
    let options: PollOptions
    /// Empty for a source that a jq program reads.
    let cities: [PolledCity]
    let key: SourceKey?
    let client: HTTPClientConfiguration
    /// Scheme and host of the source.
    let baseURL: String
    let plan: PollPlan

    init(_ flags: ParsedFlags) throws {
        let options: PollOptions = try flags.options()
        let name = options.source
        try Self.checkCombination(options, flags)
        self.options = options
        var client = HTTPClientConfiguration(
            userAgent: "air-quality-exporter/\(BuildVersion.version) (\(Program.feed.name) poll)")
        client.timeout = options.timeout
        // Twice the longest real document: a source's response costs some twenty times its size while it is read.
        client.maximumBodyBytes = 4 << 20
        client.authorities = options.authorities
        self.client = client
        key = try options.key ?? Self.keyOfEnvironment(for: name)
        if name.needsKey, key == nil {
            throw flags.rejection(
                of: "key-file",
                expected: "a file with the key for \(name.rawValue), or the key in \(PollOptions.keyVariable)")
        }
        baseURL = options.url.flatMap(httpOrigin) ?? options.baseURL ?? name.baseURL(hasKey: key != nil)
        cities = name == .json ? [] : try options.cities ?? options.set.cities
        let rate = options.rate ?? name.rate
        let scale = options.index ?? name.givenIndex ?? .india
        let document = SourceQuery(
            path: String((options.url ?? "").dropFirst(baseURL.count)), headers: try Self.headers(options, flags),
            subject: baseURL)
        let source = name.source(
            cities: cities, scale: scale, key: key?.text, maximumCost: rate.calls, document: document)
        plan = PollPlan(
            source: name, api: source, cities: cities, keyOrigin: key?.origin, rate: rate, interval: options.interval,
            random: { .random(in: 0..<1) })
    }

    private static func checkCombination(_ options: PollOptions, _ flags: ParsedFlags) throws(FlagError) {
        func require(_ isGood: Bool, _ flag: String, _ expected: String) throws(FlagError) {
            if !isGood { throw flags.rejection(of: flag, expected: expected) }
        }
        let isJSON = options.source == .json
        for flag in ["url", "jq", "header-file"] {
            try require(isJSON || !flags.isGiven(flag), flag, "--source json with it")
        }
        for flag in ["cities", "set", "index", "base-url", "key-file"] {
            let expected = "another --source; json has --url, --jq, and --header-file for a key"
            try require(!isJSON || !flags.isGiven(flag), flag, expected)
        }
        try require(!isJSON || options.url != nil, "url", "an address with --source json")
        try require(
            !isJSON || options.jq != nil, "jq",
            "a program with --source json that makes objects such as {city: .name, aqi: .value}")
        try require(options.cities == nil || !flags.isGiven("set"), "set", "no --cities beside it")
        if let given = options.source.givenIndex, let index = options.index {
            try require(
                index == given, "index", "\(given.rawValue), the index that \(options.source.rawValue) gives")
        }
    }

    private static func keyOfEnvironment(for source: SourceName) throws(FlagError) -> SourceKey? {
        let variable = PollOptions.keyVariable
        guard source != .json, let text = environmentVariables()[variable], !text.isEmpty else { return nil }
        if let key = SourceKey(text.utf8, origin: variable) { return key }
        throw FlagError("\(variable) ***: expected \(SourceKey.form)")
    }

    private static func headers(_ options: PollOptions, _ flags: ParsedFlags) throws -> [String] {
        var file = FeedClientOptions()
        file.headerFile = options.headerFile
        do throws(FeedOptionError) {
            return try file.headerFields().map { "\($0.name): \($0.value)" }
        } catch {
            throw flags.rejection(of: "header-file", expected: error.expected)
        }
    }
}
