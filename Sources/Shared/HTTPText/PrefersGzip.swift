/// Whether to respond with gzip, from the request's `Accept-Encoding` (RFC 9110 section 12.5.3): if gzip is acceptable
/// and its weight is at least that of identity, if named. Malformed elements are ignored.
public func prefersGzip(acceptEncoding: String?) -> Bool {
    guard let acceptEncoding else { return false }
    var qualities: [String: Int] = [:]
    for element in AcceptElement.list(acceptEncoding) {
        let name = element.name == "x-gzip" ? "gzip" : element.name
        qualities[name] = max(qualities[name] ?? 0, element.quality)
    }
    let preference = qualities["gzip"] ?? qualities["*"] ?? 0
    return preference > 0 && preference >= qualities["identity"] ?? 0
}
