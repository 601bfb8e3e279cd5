internal import Bytes

/// Texts sent to a server that may be secret, for masking them where the server repeats them.
public struct SentSecrets: Sendable {
    /// Longest first, so that no part of one remains.
    private let texts: [String]

    /// Covers values of header fields and of the query, and their words of 8 bytes or more; messages; and words of
    /// messages and of the path that look like tokens.
    ///
    /// - Parameters:
    ///   - target: a path with or without a query.
    ///   - key: masked whatever its length.
    public init(values: [String] = [], target: String = "", messages: [String] = [], key: String? = nil) {
        let parameters = target.drop { $0 != "?" }.dropFirst().split(separator: "&").map { parameter in
            parameter.contains("=") ? parameter.drop { $0 != "=" }.dropFirst() : parameter
        }
        let whole = (parameters + values.map { $0[...] }).flatMap { [$0] + Self.words($0) }
        let decoded = whole.map { String(decoding: percentDecoded($0.utf8) ?? Array($0.utf8), as: UTF8.self) }
        let path = target.prefix { $0 != "?" }.split(separator: "/")
        let tokens = (messages.flatMap { Self.words($0[...]) } + path).filter { isToken($0) }.map(String.init)
        let long = (decoded + messages + tokens).filter { $0.utf8.count >= 8 }
        texts = (long + (key.map { [$0] } ?? [])).sorted { $0.utf8.count > $1.utf8.count }
    }

    private static func words(_ text: Substring) -> [Substring] {
        text.split(separator: " ") + text.split { " :=;,\"'{}[]".contains($0) }
    }

    /// Returns the text with `***` for each of them, even if percent-encoded, and for a beginning of one that `…` has
    /// cut off.
    public func masked(in text: String) -> String {
        let masked = texts.reduce(text) { Bytes.masked($0, secret: $1) }
        guard masked.hasSuffix("…") else { return masked }
        let shown = masked.dropLast()
        let cut = texts.compactMap { secret in
            (4..<max(4, secret.count)).last { shown.hasSuffix(secret.prefix($0)) }
        }
        return cut.max().map { shown.dropLast($0) + "***…" } ?? masked
    }
}
