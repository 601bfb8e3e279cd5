internal import Bytes

/// Parses `Retry-After` (RFC 9110, section 10.2.3), seconds or a date; `nil` if it is neither.
///
/// - Parameter now: milliseconds since the Unix epoch.
package func parseRetryAfter(_ text: String, now: Int64) -> Duration? {
    if text.utf8.count <= 9, let seconds: Int = decimalNumber(text.utf8) { return .seconds(seconds) }
    return parseHTTPDate(text).map { max(.zero, .milliseconds($0 - now)) }
}

/// Parses an IMF-fixdate (RFC 9110, section 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`, as epoch milliseconds.
func parseHTTPDate(_ text: String) -> Int64? {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[5] == "GMT",
        let month = months.firstIndex(of: String(parts[2]))
    else { return nil }
    let twoDigits = (month < 9 ? "0" : "") + "\(month + 1)"
    return parseRFC3339("\(parts[3])-\(twoDigits)-\(parts[1])T\(parts[4])Z".utf8Span.span)
}
