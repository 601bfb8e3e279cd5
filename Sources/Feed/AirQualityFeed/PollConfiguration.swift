import AirQuality
import AirQualityIndex
import AirSources
import Bytes
import CommandLine
import HTTPClient
import System

/// The checked settings of `poll`.
struct PollConfiguration {
    static let keyVariable = "AIR_QUALITY_FEED_KEY"

    let options: PollOptions
    let scale: IndexScale
    let cities: [City]
    /// With where it comes from.
    let key: (text: String, origin: String)?
    let baseURL: String
    let rate: CallRate
    /// In PEM; nil = the system's.
    let authorities: [UInt8]?

    init(_ flags: ParsedFlags) throws {
        options = try flags.options()
        let source = options.source
        scale = options.index ?? source.givenIndex ?? .india
        if let given = source.givenIndex, scale != given {
            throw flags.refusal(
                of: \PollOptions.index, expected: "\(given.rawValue), the index that \(source.rawValue) gives")
        }
        rate = options.rate ?? source.rate
        // Here and not by libcurl at each request, which would wait for a pipe that has taken the file's place.
        authorities = if let file = options.caFile { try readFile(file, limit: 16 << 20) } else { nil }
        key = try Self.key(options, flags)
        baseURL = options.baseURL ?? source.baseURL(hasKey: key != nil)
        if source.needsKey, key == nil {
            throw flags.refusal(
                of: \PollOptions.keyFile,
                expected: "a file with the key for \(source.rawValue), or the key in \(Self.keyVariable)")
        }
        cities = try Self.cities(options, flags)
    }

    private static func key(_ options: PollOptions, _ flags: ParsedFlags) throws -> (text: String, origin: String)? {
        if let path = options.keyFile {
            let bytes = try readFile(path, limit: 4096)
            let text = String(decoding: bytes.reversed().drop { $0 == 10 || $0 == 13 }.reversed(), as: UTF8.self)
            guard isKey(text) else {
                throw flags.refusal(
                    of: \PollOptions.keyFile, expected: "a file with one line of printable ASCII without blanks")
            }
            return (text, "--key-file \(quoted(path))")
        }
        guard let text = environmentVariables()[keyVariable], !text.isEmpty else { return nil }
        guard isKey(text) else { throw FlagError("\(keyVariable) ***: expected printable ASCII without blanks") }
        return (text, keyVariable)
    }

    private static func cities(_ options: PollOptions, _ flags: ParsedFlags) throws -> [City] {
        guard let path = options.cities else { return try options.set.cities }
        if flags.isGiven(\PollOptions.set) {
            throw flags.refusal(of: \PollOptions.set, expected: "no --cities beside it")
        }
        return try readCities(readFile(path, limit: 16 << 20), name: path)
    }
}

extension ValueFormat<CallRate> {
    static var callRate: Self {
        Self("N/DURATION", expected: "N/DURATION, at most N calls in any DURATION, for example 60/1m") { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let calls = ValueFormat<Int>.integer(in: 1...1_000_000).parse(parts[0]),
                let period = ValueFormat<Duration>.duration(from: .milliseconds(1)).parse(parts[1])
            else { return nil }
            return CallRate(calls: calls, per: period)
        }
    }
}

extension ValueFormat<String> {
    /// Scheme and host, without a path.
    static var origin: Self {
        Self("URL", expected: "http:// or https:// and a host, without user, path and query") { text in
            let text = text.hasSuffix("/") ? String(text.dropLast()) : text
            guard let origin = HTTPOrigin(text), "\(origin)".utf8.count == text.utf8.count else { return nil }
            return text
        }
    }
}
