import AirQualityIndex
import AirSources
import CommandLine
import HTTPClient
import System

/// What `poll` is told by its flags, checked.
struct PollConfiguration {
    static let keyVariable = "AIR_QUALITY_FEED_KEY"

    let source: SourceName
    let scale: IndexScale
    let cities: [City]
    let key: String?
    let baseURL: String
    let interval: Duration
    let rate: CallRate
    let timeout: Duration
    let caFile: String?

    init(_ flags: ParsedFlags) throws {
        source = try flags.value("source", as: .choice)
        scale = try flags.value("index", as: .choice)
        if let given = source.givenIndex, scale != given {
            throw flags.refusal(of: "index", expected: "\(given.rawValue), the index that \(source.rawValue) gives")
        }
        interval = try flags.value("interval", as: .duration(in: .seconds(1) ... .longest))
        timeout = try flags.value("timeout", as: .duration(in: .milliseconds(1) ... .longest))
        rate = try flags.optional("rate", as: .callRate) ?? source.rate
        baseURL = try flags.optional("base-url", as: .origin) ?? source.baseURL
        caFile = try flags.optional("ca-file", as: .nonEmptyText)
        // Said at the start, not at the first request.
        if let caFile { _ = try readFile(caFile, limit: 16 << 20) }
        key = try Self.key(flags)
        if source.needsKey, key == nil {
            throw flags.refusal(
                of: "key-file",
                expected: "a file with the key for \(source.rawValue), or the key in \(Self.keyVariable)")
        }
        cities = try Self.cities(flags)
    }

    private static func key(_ flags: ParsedFlags) throws -> String? {
        if let path = try flags.optional("key-file", as: .nonEmptyText) {
            let bytes = try readFile(path, limit: 4096)
            let text = String(decoding: bytes.reversed().drop { $0 == 10 || $0 == 13 }.reversed(), as: UTF8.self)
            guard isKey(text) else {
                throw flags.refusal(of: "key-file", expected: "a file with one line of printable ASCII without blanks")
            }
            return text
        }
        guard let text = environmentVariable(keyVariable), !text.isEmpty else { return nil }
        guard isKey(text) else { throw FlagError("\(keyVariable) ***: expected printable ASCII without blanks") }
        return text
    }

    private static func cities(_ flags: ParsedFlags) throws -> [City] {
        guard let path = try flags.optional("cities", as: .nonEmptyText) else {
            return try flags.value("set", as: ValueFormat<CitySet>.choice).cities
        }
        if flags.isGiven("set") { throw flags.refusal(of: "set", expected: "no --cities beside it") }
        return try readCities(readFile(path, limit: 16 << 20), name: path)
    }
}

extension ValueFormat<CallRate> {
    static var callRate: Self {
        Self(expected: "N/DURATION, so many calls in any so long, for example 60/1m") { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let calls = ValueFormat<Int>.integer(in: 1...1_000_000).parse(parts[0]),
                let period = ValueFormat<Duration>.duration(in: .milliseconds(1) ... .longest).parse(parts[1])
            else { return nil }
            return CallRate(calls: calls, per: period)
        }
    }
}

extension ValueFormat<String> {
    /// Scheme and host, without a path.
    static var origin: Self {
        Self(expected: "http:// or https:// and a host, without user, path and query") { text in
            let text = text.hasSuffix("/") ? String(text.dropLast()) : text
            guard let origin = HTTPOrigin(text), "\(origin)".utf8.count == text.utf8.count else { return nil }
            return text
        }
    }
}
