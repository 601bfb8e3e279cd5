internal import Bytes

/// Texts sent to a server that may be secret, for masking them where the server repeats them.
public struct SentSecrets: Sendable {
    /// Longest first, so that no part of one remains.
    private let texts: [String]

    /// Covers values of header fields and of the query, and their words of 8 bytes or more; messages, and their words
    /// that look like tokens.
    ///
    /// - Parameter target: a path with or without a query.
    public init(values: [String] = [], target: String = "", messages: [String] = []) {
        let parameters = target.drop { $0 != "?" }.dropFirst().split(separator: "&").map { parameter in
            parameter.contains("=") ? parameter.drop { $0 != "=" }.dropFirst() : parameter
        }
        let whole = (parameters + values.map { $0[...] }).flatMap { [$0] + Self.words($0) }
        let decoded = whole.map { String(decoding: percentDecoded($0.utf8) ?? Array($0.utf8), as: UTF8.self) }
        let tokens = messages.flatMap { Self.words($0[...]) }.filter { isToken($0) }.map(String.init)
        texts = (decoded + messages + tokens).filter { $0.utf8.count >= 8 }.sorted { $0.utf8.count > $1.utf8.count }
    }

    private static func words(_ text: Substring) -> [Substring] {
        text.split(separator: " ") + text.split { " :=;,\"'{}[]".contains($0) }
    }

    /// Returns the text with `***` for each of them, even if percent-encoded.
    public func masked(in text: String) -> String { texts.reduce(text) { Bytes.masked($0, secret: $1) } }
}
