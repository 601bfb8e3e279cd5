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
    static let keyVariable = "AIR_QUALITY_FEED_KEY"

    let options: PollOptions
    /// Queries and the meaning of their responses.
    let source: any AirSource
    /// Empty for a source that a jq program reads.
    let cities: [PolledCity]
    /// The key and its origin, for the log.
    let key: (text: String, origin: String)?
    let baseURL: String
    let rate: CallRate
    /// Certificate authorities in PEM; `nil` = the system's.
    let authorities: [UInt8]?

    init(_ flags: ParsedFlags) throws {
        let options: PollOptions = try flags.options()
        let name = options.source
        try Self.checkCombination(options, flags)
        self.options = options
        rate = options.rate ?? name.rate
        // Here and not by libcurl at each request, which would wait for a pipe that has taken the file's place.
        authorities = if let file = options.caFile { try readFile(file, limit: 16 << 20) } else { nil }
        key = try Self.key(options, flags)
        if name.needsKey, key == nil {
            throw flags.refusal(
                of: \PollOptions.keyFile,
                expected: "a file with the key for \(name.rawValue), or the key in \(Self.keyVariable)")
        }
        let urlOrigin = options.url.flatMap(httpOrigin)
        baseURL = urlOrigin ?? options.baseURL ?? name.baseURL(hasKey: key != nil)
        cities = try Self.cities(options)
        let scale = options.index ?? name.givenIndex ?? .india
        let known = name.source(cities: cities, scale: scale, key: key?.text, maximumCost: rate.calls)
        if let known {
            source = known
        } else {
            let path = String((options.url ?? "").dropFirst(baseURL.count))
            source = JSONSource(path: path, headers: try Self.headers(options, flags), subject: baseURL)
        }
    }

    private static func checkCombination(_ options: PollOptions, _ flags: ParsedFlags) throws {
        func check(_ isGood: Bool, _ member: PartialKeyPath<PollOptions>, _ expected: String) throws {
            if !isGood { throw flags.refusal(of: member, expected: expected) }
        }
        let isJSON = options.source == .json
        for member in [\PollOptions.url, \.jq, \.headerFile] {
            try check(isJSON || !flags.isGiven(member), member, "--source json with it")
        }
        for member in [\PollOptions.cities, \.set, \.index, \.baseURL, \.keyFile] as [PartialKeyPath<PollOptions>] {
            try check(
                !isJSON || !flags.isGiven(member), member,
                "another --source; json has --url, --jq, and --header-file for a key")
        }
        try check(!isJSON || options.url != nil, \.url, "an address with --source json")
        try check(
            !isJSON || options.jq != nil, \.jq,
            "a program with --source json that makes objects such as {city: .name, aqi: .value}")
        try check(options.cities == nil || !flags.isGiven(\PollOptions.set), \.set, "no --cities beside it")
        if let given = options.source.givenIndex {
            try check(
                (options.index ?? given) == given, \.index,
                "\(given.rawValue), the index that \(options.source.rawValue) gives")
        }
    }

    private static func cities(_ options: PollOptions) throws -> [PolledCity] {
        if options.source == .json { return [] }
        guard let path = options.cities else { return try options.set.cities }
        return try readCities(readFile(path, limit: 16 << 20), name: path)
    }

    private static func headers(_ options: PollOptions, _ flags: ParsedFlags) throws -> [String] {
        var file = FeedClientOptions()
        file.headerFile = options.headerFile
        do throws(FeedOptionError) {
            return try file.headerFields().map { "\($0.name): \($0.value)" }
        } catch {
            throw flags.refusal(of: \PollOptions.headerFile, expected: error.expected)
        }
    }

    private static func key(_ options: PollOptions, _ flags: ParsedFlags) throws -> (text: String, origin: String)? {
        if let path = options.keyFile {
            var text = String(decoding: try readFile(path, limit: 4096), as: UTF8.self)
            while text.last?.isNewline == true { text.removeLast() }
            if let expected = keyMistake(text) {
                throw flags.refusal(of: \PollOptions.keyFile, expected: "a file with \(expected)")
            }
            return (text, "--key-file \(quoted(path))")
        }
        guard options.source != .json, let text = environmentVariables()[keyVariable], !text.isEmpty else { return nil }
        if let expected = keyMistake(text) { throw FlagError("\(keyVariable) ***: expected \(expected)") }
        return (text, keyVariable)
    }
}
