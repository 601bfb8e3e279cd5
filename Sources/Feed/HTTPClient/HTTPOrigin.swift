internal import CCurl

/// Scheme, host and port of an address as it has them, in lower case: `http://host:8080`; `nil` for anything but
/// `http://` and `https://` with a host, and for an address with a user in it. Corresponds to `curl_url_set`.
public func httpOrigin(of url: String) -> String? {
    let scheme = ["http://", "https://"].first { url.lowercased().hasPrefix($0) }
    guard let scheme, let parts = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(parts) }
    let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }.lowercased()
    // libcurl overlooks a missing host, and a port that is missing or 0.
    let hasPort = authority.last { $0 != "0" } != ":"
    guard let first = authority.first, first != ":", hasPort, !authority.contains("@"),
        unsafe curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK
    else { return nil }
    return scheme + authority
}
