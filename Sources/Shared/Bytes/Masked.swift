/// The address without its user, password, query and fragment, `***` in their place, and with `…` for what may be a
/// token in its path.
///
/// Works on text that is no valid address as well: where a password may have broken the syntax (`ws://me:pa/ss@host`),
/// everything after the scheme is hidden.
package func masked(address: String) -> String {
    // As a `Character`, `@` with a combining mark behind it is no `@`.
    let address = address.unicodeScalars
    let scheme = address.indices.first { address[$0...].starts(with: "://".unicodeScalars) }
    let afterScheme = scheme.map { address.index($0, offsetBy: 3) } ?? address.startIndex
    let rest = address[afterScheme...]
    let authorityEnd = rest.firstIndex { "/?#".unicodeScalars.contains($0) } ?? rest.endIndex
    let authority = rest[..<authorityEnd]
    var shown = String(address[..<afterScheme])
    if let at = authority.lastIndex(of: "@") {
        shown += "***" + String(authority[at...])
    } else if authority.isEmpty || authority.contains(":"), rest[authorityEnd...].contains("@") {
        return shown + "***"
    } else {
        shown += String(authority)
    }
    let pathAndQuery = rest[authorityEnd...]
    let path = pathAndQuery.prefix { $0 != "?" && $0 != "#" }
    shown += pathWithoutTokens(String(path))
    return path.endIndex < pathAndQuery.endIndex ? shown + String(pathAndQuery[path.endIndex]) + "***" : shown
}

/// A path to a file; `***` where it is the content of one, perhaps a secret, in the place of its name.
package func masked(path: String) -> String {
    let signs = ["\n", "-----BEGIN", ": "].map(\.unicodeScalars)
    return signs.contains(where: path.unicodeScalars.contains) ? "***" : path
}

/// The path of an address with `…` for each segment that may be a token: 16 or more bytes with letters and digits.
package func pathWithoutTokens(_ path: String) -> String {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
        let isToken =
            segment.utf8.count >= 16 && segment.utf8.contains(where: isDigit)
            && segment.utf8.contains { isLetterOrDigit($0) && !isDigit($0) }
        return isToken ? "…" : segment
    }
    return segments.joined(separator: "/")
}

/// A line with `***` in place of a secret, which may be percent-encoded: a source may repeat what it was sent.
package func masked(_ line: String, secret: String) -> String {
    let decoded = percentDecoded(line.utf8).map { String(decoding: $0, as: UTF8.self) } ?? line
    return (decoded.unicodeScalars.contains(secret.unicodeScalars) ? decoded : line)
        .replacingScalars(secret, with: "***").replacingScalars(percentEncoded(secret.utf8), with: "***")
}
