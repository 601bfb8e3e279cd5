internal import Bytes

/// `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date; `nil` when it is neither.
///
/// - Parameter now: milliseconds since the Unix epoch.
package func parseRetryAfter(_ text: String, now: Int64) -> Duration? {
    if text.utf8.count <= 9, let seconds: Int = decimalNumber(text.utf8) { return .seconds(seconds) }
    return parseHTTPDate(text).map { max(.zero, .milliseconds($0 * 1000 - now)) }
}

/// Seconds since the Unix epoch of a date in the form that servers must send, `Sun, 06 Nov 1994 08:49:37 GMT`
/// (RFC 9110, section 5.6.7).
package func parseHTTPDate(_ text: String) -> Int64? {
    func number(_ text: Substring, digits: Int) -> Int64? { text.utf8.count == digits ? decimalNumber(text.utf8) : nil }
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[5] == "GMT",
        let day = number(parts[1], digits: 2), let year = number(parts[3], digits: 4),
        let month = months.firstIndex(of: String(parts[2])),
        let date = CivilDate(year: year, month: Int64(month) + 1, day: day)
    else { return nil }
    let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let hour = number(clock[0], digits: 2), let minute = number(clock[1], digits: 2),
        let second = number(clock[2], digits: 2), hour < 24, minute < 60, second <= 60
    else { return nil }
    return date.daysSinceEpoch * 86400 + hour * 3600 + minute * 60 + second
}
