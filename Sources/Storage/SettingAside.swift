internal import Glibc

/// Renames a damaged file and its journals, so that they can be looked into and nothing is overwritten.
///
/// - Parameter now: milliseconds since the Unix epoch.
/// - Returns: the file's name now.
func setAside(path: String, now: Int64) throws(SettingAsideError) -> String {
    let path = resolved(path)
    let stem = "\(path).damaged-\(compactTime(now))"
    var target = stem
    var count = 1
    while FileIdentity(path: target) != nil {
        count += 1
        target = "\(stem)-\(count)"
    }
    // The file goes last: if we are killed in between, the next start finds it and goes on.
    for suffix in ["-wal", "-shm", "-journal", ""] {
        guard unsafe rename(path + suffix, target + suffix) != 0 else { continue }
        if suffix.isEmpty || errno != ENOENT {
            throw SettingAsideError(reason: describe(errorNumber: errno))
        }
    }
    return target
}

struct SettingAsideError: Error {
    var reason: String
}

/// As in 20261121T044945Z.
private func compactTime(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1000)
    var time = unsafe tm()
    unsafe gmtime_r(&seconds, &time)
    let date = unsafe digits(time.tm_year + 1900, 4) + digits(time.tm_mon + 1, 2) + digits(time.tm_mday, 2)
    let clock = unsafe digits(time.tm_hour, 2) + digits(time.tm_min, 2) + digits(time.tm_sec, 2)
    return date + "T" + clock + "Z"
}

private func digits(_ number: Int32, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
}
