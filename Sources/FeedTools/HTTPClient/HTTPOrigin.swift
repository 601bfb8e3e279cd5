internal import CCurl

/// Returns a URL's scheme, host and port (if it has one) in lower case: `http://host:8080`. `nil` unless the URL is
/// `http` or `https`, valid by `curl_url_set`, and has a host and no user.
public func httpOrigin(of url: String) -> String? {
    let scheme = ["http://", "https://"].first { url.lowercased().hasPrefix($0) }
    guard let scheme, let parts = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(parts) }
    let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }.lowercased()
    // libcurl accepts a missing host, and a colon with no port or port 0.
    let hasPort = authority.last { $0 != "0" } != ":"
    guard let first = authority.first, first != ":", hasPort, !authority.contains("@"),
        unsafe curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK
    else { return nil }
    return scheme + authority
}
