internal import CCurl

/// Scheme, host and port of an address, `http://host:8080`; `nil` for anything but `http://` and `https://` with a
/// host, and for an address with a user in it. Corresponds to `curl_url`, `curl_url_get`.
public func httpOrigin(of url: String) -> String? {
    // libcurl overlooks a missing host and a missing port.
    let authority = url.split(separator: "://", maxSplits: 1).last?.prefix { !"/?#".contains($0) } ?? ""
    guard url.contains("://"), !authority.isEmpty, authority.last != ":", !url.contains(":///"),
        let parts = unsafe curl_url()
    else { return nil }
    defer { unsafe curl_url_cleanup(parts) }
    guard unsafe curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK else { return nil }
    func part(_ part: CURLUPart) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(parts, part, &text, 0) == CURLUE_OK, let text = unsafe text else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
    guard let scheme = part(CURLUPART_SCHEME)?.lowercased(), ["http", "https"].contains(scheme),
        let host = part(CURLUPART_HOST), !host.isEmpty, part(CURLUPART_USER) == nil
    else { return nil }
    guard let port = part(CURLUPART_PORT) else { return "\(scheme)://\(host.lowercased())" }
    return (Int(port) ?? 0) > 0 ? "\(scheme)://\(host.lowercased()):\(port)" : nil
}
