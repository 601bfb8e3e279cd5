import AirSources
import Bytes
import CommandLine
import HTTPClient
import System

extension ValueFormat {
    /// The path of a file of which the content is read at once. An error ends with the reason why it cannot be.
    /// - Parameters:
    ///   - what: the expected content.
    ///   - limit: bytes at most.
    private static func content(
        _ what: String, limit: Int, read: @escaping @Sendable (_ content: [UInt8], _ path: String) throws -> Value
    ) -> Self {
        @Sendable func value(_ path: String) throws -> Value { try read(readFile(path, limit: limit), path) }
        return Self(
            "FILE",
            expected: { path in
                do {
                    _ = try value(path)
                    return what
                } catch {
                    return "\(what): \(error)"
                }
            },
            parse: { try? value($0) })
    }
}

extension ValueFormat<[PolledCity]> {
    static var cities: Self {
        content("CSV with city,latitude,longitude", limit: 16 << 20) { content, _ in try PolledCity.list(csv: content) }
    }
}

extension ValueFormat<SourceKey> {
    static var key: Self {
        content("a file with \(SourceKey.form)", limit: 4096) { content, path in
            guard let key = SourceKey(content, origin: "--key-file \(quoted(path))") else {
                throw SystemError(.configuration, "it has something else")
            }
            return key
        }
    }
}

extension ValueFormat<[UInt8]> {
    /// Read here and not by libcurl at each request, which would wait for a pipe that has taken the file's place.
    static var authorities: Self {
        content("certificates of authorities in PEM", limit: 16 << 20) { content, _ in content }
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
            return httpOrigin(of: text)?.utf8.count == text.utf8.count ? text : nil
        }
    }

    /// An address of HTTP with path and query.
    static var address: Self {
        Self("URL", expected: "http:// or https://, a host, a path and perhaps a query, without a user") { text in
            let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
            return isPlain && httpOrigin(of: text) != nil ? text : nil
        }
    }
}
