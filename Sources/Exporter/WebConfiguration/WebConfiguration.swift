internal import Bytes
public import HTTPServer
public import HTTPText
public import System
internal import YAML

/// A validated web configuration file with the files that it names, in the schema that Prometheus exporters share:
/// exporter-toolkit 0.17, `docs/web-configuration.md`.
public struct WebConfiguration: Sendable {
    /// The certificate and its rules; `nil` = plain HTTP.
    public var tls: TLSConfiguration?

    /// Fields set on every response. None is empty or contains control characters.
    public var headers: [HTTPField] = []

    /// The bcrypt hash of each user, by the bytes of the name; empty = no authentication.
    var users: [[UInt8]: BcryptHash] = [:]

    /// `nil` = no limit.
    public var rateLimit: HTTPAccess.RateLimit?

    /// One line for each setting that is accepted, as by the exporter-toolkit, but probably a mistake.
    public var warnings: [String] = []

    /// State of each file just before it was read, so that a change in between is detected.
    public private(set) var stamps: [String: FileStamp?] = [:]

    public init() {}

    /// The part of the file that a server applies.
    public var access: HTTPAccess {
        var access = HTTPAccess()
        access.tls = tls
        access.headers = headers
        access.users = HTTPAccess.Users(users)
        access.rateLimit = rateLimit
        return access
    }
}

// MARK: - Reading

extension WebConfiguration {
    /// Maximum size in bytes of the file and of each file that it names.
    static let fileLimit = 1 << 20

    /// Reads the file and the files that it names. Accepts what exporter-toolkit 0.17 accepts.
    ///
    /// - Throws: one line with the file, its line, the key, its value (secrets masked) and what was expected.
    public init(file path: String) throws(SystemError) {
        var stamps: [String: FileStamp?] = [:]
        func read(_ path: String) throws(SystemError) -> [UInt8] {
            stamps.merge(try FileStamp.stamps(of: [path])) { $1 }
            return try readFile(path, limit: Self.fileLimit)
        }
        try self.init(text: read(path), path: path, read: read)
        self.stamps = stamps
    }

    /// - Parameter path: the file that has the text; relative paths in it are relative to its directory.
    init(text: [UInt8], path: String, read: (_ path: String) throws(SystemError) -> [UInt8]) throws(SystemError) {
        let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        do throws(SystemError) {
            self.init()
            // A text in place of a mapping may be a key or a hash.
            var document = try YAMLField.parse(text)
            document?.isSecret = true
            var sections = try document.members([
                "tls_server_config", "http_server_config", "basic_auth_users", "rate_limit",
            ])
            for name in ["tls_server_config", "basic_auth_users"] { sections[name]?.isSecret = true }
            try readHTTP(sections["http_server_config"])
            try readUsers(sections["basic_auth_users"])
            try readRateLimit(sections["rate_limit"])
            try readTLS(sections["tls_server_config"]) { (key, members) throws(SystemError) in
                var inline = members[key]
                inline?.isSecret = true
                let text = try inline?.text() ?? ""
                let file = try members["\(key)_file"]?.text() ?? ""
                if var text = members["\(key)_file"], file.unicodeScalars.contains("-----BEGIN".unicodeScalars) {
                    text.isSecret = true
                    throw text.wrong(expected: "the name of a file; a PEM text belongs to \(key)")
                }
                guard !file.isEmpty else { return text.isEmpty ? nil : PEM(name: key, content: Array(text.utf8)) }
                let path = file.utf8.first == UInt8(ascii: "/") ? file : directory + file
                do throws(SystemError) {
                    return try PEM(name: "\(key)_file (\(path))", content: read(path))
                } catch {
                    throw .schema(".\(key)_file: \(error.reason)")
                }
            }
        } catch {
            throw SystemError(error.code, "web configuration \(path): \(error.reason)")
        }
    }

    private mutating func readHTTP(_ section: YAMLField?) throws(SystemError) {
        let members = try section.members(["http2", "headers"])
        // Ignored: libmicrohttpd speaks HTTP/1.1 only.
        _ = try members["http2"]?.boolean()
        let fields = try members["headers"].members(Self.knownHeaders.map(\.key))
        for (name, values) in Self.knownHeaders {
            guard let field = fields[name] else { continue }
            let text = try field.text()
            guard values.isEmpty || values.contains(text) else {
                throw field.wrong(expected: values.joined(separator: " or "))
            }
            let value = String(trimmed(onOneLine(text)[...]))
            if !value.isEmpty { headers.append(HTTPField(name: name, value: value)) }
            // The header of each response must fit into the memory of its connection.
            guard headers.reduce(0, { $0 + $1.value.utf8.count }) <= 4096 else {
                throw field.wrong(expected: "4096 bytes in all headers together at most")
            }
        }
    }

    /// The fields that may be configured, and their allowed values; empty = any value.
    private static let knownHeaders: KeyValuePairs<String, [String]> = [
        "Content-Security-Policy": [],
        "X-Frame-Options": ["deny", "sameorigin"],
        "X-Content-Type-Options": ["nosniff"],
        "X-XSS-Protection": [],
        "Strict-Transport-Security": [],
    ]

    private mutating func readUsers(_ section: YAMLField?) throws(SystemError) {
        guard let section, !section.isNull else { return }
        for (key, value) in try section.mapping() {
            var value = value
            value.isSecret = true
            let costs = BcryptHash.costs
            let expected = "a bcrypt hash ($2y$…) with a cost of \(costs.lowerBound) to \(costs.upperBound)"
            guard let hash = BcryptHash(try value.text(expected: expected)) else {
                throw value.wrong(expected: expected)
            }
            users[Array(key.utf8)] = hash
        }
    }

    private mutating func readRateLimit(_ section: YAMLField?) throws(SystemError) {
        let members = try section.members(["interval", "burst"])
        let interval = try members["interval"]?.value(
            expected: "a duration such as 500ms, 30s or 1m30s", parseGoDuration)
        let burst: Int = try members["burst"]?.value(expected: "a whole number") { decimalNumber($0.utf8) } ?? 0
        guard let interval, interval > 0 else { return }
        rateLimit = HTTPAccess.RateLimit(interval: .nanoseconds(interval), burst: burst)
        if burst == 0 { warnings.append("rate_limit.burst is 0, so every request is rejected") }
    }
}
