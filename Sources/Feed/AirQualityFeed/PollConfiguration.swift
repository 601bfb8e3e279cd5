import AirQuality
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
    let scale: IndexScale
    let cities: [PolledCity]
    /// The key and its origin, for the log.
    let key: (text: String, origin: String)?
    /// Header lines of each request to a `json` source, which may be secret.
    let headers: [String]
    let baseURL: String
    let rate: CallRate
    /// Certificate authorities in PEM; `nil` = the system's.
    let authorities: [UInt8]?

    init(_ flags: ParsedFlags) throws {
        let options: PollOptions = try flags.options()
        let source = options.source
        self.options = options
        try Self.checkCombination(options, flags)
        scale = options.index ?? source.givenIndex ?? .india
        if let given = source.givenIndex, scale != given {
            throw flags.refusal(
                of: \PollOptions.index, expected: "\(given.rawValue), the index that \(source.rawValue) gives")
        }
        rate = options.rate ?? source.rate
        // Here and not by libcurl at each request, which would wait for a pipe that has taken the file's place.
        authorities = if let file = options.caFile { try readFile(file, limit: 16 << 20) } else { nil }
        headers = try Self.headers(options, flags)
        if source == .json {
            key = nil
            baseURL = options.url.flatMap(HTTPOrigin.init).map { "\($0)" } ?? ""
            cities = []
            return
        }
        key = try Self.key(options, flags)
        baseURL = options.baseURL ?? source.baseURL(hasKey: key != nil)
        if source.needsKey, key == nil {
            throw flags.refusal(
                of: \PollOptions.keyFile,
                expected: "a file with the key for \(source.rawValue), or the key in \(Self.keyVariable)")
        }
        cities = try Self.cities(options, flags)
    }

    /// The queries of the source and the meaning of its responses.
    func source() -> any AirSource {
        let known = options.source.source(
            cities: cities, scale: scale, key: key?.text, maximumCost: rate.calls)
        let url = options.url ?? ""
        return known ?? JSONSource(path: String(url.dropFirst(baseURL.count)), headers: headers, subject: baseURL)
    }

    /// Checks that `--url` and `--jq` belong to `--source json`, and the flags about cities to the other sources.
    private static func checkCombination(_ options: PollOptions, _ flags: ParsedFlags) throws {
        guard options.source == .json else {
            for member in [\PollOptions.url, \.jq, \.headerFile] where flags.isGiven(member) {
                throw flags.refusal(of: member, expected: "--source json with it")
            }
            return
        }
        if options.url == nil { throw flags.refusal(of: \PollOptions.url, expected: "an address with --source json") }
        if options.jq == nil {
            throw flags.refusal(
                of: \PollOptions.jq,
                expected: "a program with --source json that makes objects such as {city: .name, aqi: .value}")
        }
        let others: [PartialKeyPath<PollOptions>] = [\.cities, \.set, \.index, \.baseURL, \.keyFile]
        for member in others where flags.isGiven(member) {
            let instead = member == \PollOptions.keyFile ? "--header-file or --url for a key" : "another --source"
            throw flags.refusal(of: member, expected: "\(instead), not --source json")
        }
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
            let bytes = try readFile(path, limit: 4096)
            let text = String(decoding: bytes.reversed().drop { $0 == 10 || $0 == 13 }.reversed(), as: UTF8.self)
            if let expected = keyWrapping(text) {
                throw flags.refusal(of: \PollOptions.keyFile, expected: "a file with \(expected)")
            }
            guard isKey(text) else {
                throw flags.refusal(
                    of: \PollOptions.keyFile, expected: "a file with one line of printable ASCII without blanks")
            }
            return (text, "--key-file \(quoted(path))")
        }
        guard let text = environmentVariables()[keyVariable], !text.isEmpty else { return nil }
        if let expected = keyWrapping(text) { throw FlagError("\(keyVariable) ***: expected \(expected)") }
        guard isKey(text) else { throw FlagError("\(keyVariable) ***: expected printable ASCII without blanks") }
        return (text, keyVariable)
    }

    private static func cities(_ options: PollOptions, _ flags: ParsedFlags) throws -> [PolledCity] {
        guard let path = options.cities else { return try options.set.cities }
        if flags.isGiven(\PollOptions.set) {
            throw flags.refusal(of: \PollOptions.set, expected: "no --cities beside it")
        }
        return try readCities(readFile(path, limit: 16 << 20), name: path)
    }
}
