internal import Bytes
internal import CCurl

/// Scheme, host and port of an address. Corresponds to `curl_url`, `curl_url_get`.
public struct HTTPOrigin: Sendable, Equatable, CustomStringConvertible {
    public let scheme: String
    /// Host in lower case; an IPv6 address in brackets.
    public let host: String
    /// `nil` when the address names none.
    public let port: Int?

    /// `nil` for anything but `http://` and `https://` with a host, and for an address with a user in it.
    public init?(_ url: String) {
        // libcurl overlooks a missing host and a missing port.
        let authority = url.split(separator: "://", maxSplits: 1).last?.prefix { !"/?#".contains($0) } ?? ""
        guard !authority.isEmpty, authority.last != ":", !url.contains(":///") else { return nil }
        guard let parts = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(parts) }
        guard url.contains("://"), unsafe curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK else { return nil }
        func part(_ part: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard unsafe curl_url_get(parts, part, &text, 0) == CURLUE_OK, let text = unsafe text else { return nil }
            defer { unsafe curl_free(text) }
            return unsafe String(cString: text)
        }
        guard let scheme = part(CURLUPART_SCHEME)?.lowercased(), scheme == "http" || scheme == "https",
            let host = part(CURLUPART_HOST), !host.isEmpty, part(CURLUPART_USER) == nil
        else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
        let port = part(CURLUPART_PORT)
        self.port = port.flatMap { Int($0) }
        if port != nil, self.port == nil || self.port == 0 { return nil }
    }

    public var description: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    /// True if a request may go on there with all that it carries: the same place, or the same host over TLS.
    func mayRedirect(to other: HTTPOrigin) -> Bool {
        self == other || (host == other.host && scheme == "http" && other.scheme == "https")
    }
}
