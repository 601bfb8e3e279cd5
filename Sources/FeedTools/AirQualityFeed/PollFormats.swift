import AirSources
import CommandLine
import HTTPClient

extension ValueFormat<CallRate> {
    static var callRate: Self {
        Self("N/DURATION", expected: "N/DURATION, N calls at once and then N each DURATION, for example 60/1m") {
            text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let calls = ValueFormat<Int>.integer(in: 1...1_000_000).parse(parts[0]),
                let period = ValueFormat<Duration>.duration(from: .milliseconds(1)).parse(parts[1])
            else { return nil }
            return CallRate(calls: calls, per: period)
        }
    }
}

extension ValueFormat<String> {
    /// An `http` or `https` URL with only a scheme, host and port; a trailing slash is removed.
    static var origin: Self {
        Self("URL", expected: "http:// or https:// and a host, without user, path and query") { text in
            let text = text.hasSuffix("/") ? String(text.dropLast()) : text
            return httpOrigin(of: text)?.utf8.count == text.utf8.count ? text : nil
        }
    }

    /// An `http` or `https` URL in printable ASCII, with path and query but no user or fragment.
    static var address: Self {
        Self("URL", expected: "http:// or https://, a host, a path and perhaps a query, without a user") { text in
            let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
            return isPlain && httpOrigin(of: text) != nil ? text : nil
        }
    }
}
