/// Returns a URL with `***` for its user, password, query and fragment, and `…` for possible tokens in its path. If a
/// password may have broken the syntax (`ws://me:pa/ss@host`), everything after the scheme is hidden.
package func masked(address: String) -> String {
    // As a `Character`, `@` followed by a combining mark is not `@`.
    let address = address.unicodeScalars
    let scheme = address.indices.first { address[$0...].starts(with: "://".unicodeScalars) }
    let afterScheme = scheme.map { address.index($0, offsetBy: 3) } ?? address.startIndex
    let rest = address[afterScheme...]
    let authorityEnd = rest.firstIndex { "/?#".unicodeScalars.contains($0) } ?? rest.endIndex
    let authority = rest[..<authorityEnd]
    let pathAndQuery = rest[authorityEnd...]
    var shown = String(address[..<afterScheme])
    let mayCutPassword = scheme == nil || authority.isEmpty || authority.contains(":")
    if mayCutPassword, pathAndQuery.contains("@") { return shown + "***" }
    if let at = authority.lastIndex(of: "@") {
        shown += "***" + String(authority[at...])
    } else {
        shown += String(authority)
    }
    let path = pathAndQuery.prefix { $0 != "?" && $0 != "#" }
    shown += pathWithoutTokens(String(path))
    if path.endIndex < pathAndQuery.endIndex { shown += String(pathAndQuery[path.endIndex]) + "***" }
    return shown
}

/// Returns a file's path, or `***` if it looks like a file's content, perhaps a secret, given by mistake.
package func masked(path: String) -> String {
    let signs = ["\n", "-----BEGIN", ": "].map(\.unicodeScalars)
    return signs.contains(where: path.unicodeScalars.contains) ? "***" : path
}

/// Returns a URL path with `…` for possible tokens among its segments.
package func pathWithoutTokens(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { isToken($0) ? "…" : $0 }.joined(separator: "/")
}

/// Whether a word may be a token: 16 or more bytes with letters and digits.
package func isToken(_ word: Substring) -> Bool {
    let hasLetter = word.utf8.contains { isLetterOrDigit($0) && !isDigit($0) }
    return word.utf8.count >= 16 && word.utf8.contains(where: isDigit) && hasLetter
}

/// Returns a line with `***` for a secret, even if percent-encoded: a source may echo what it was sent.
package func masked(_ line: String, secret: String) -> String {
    let decoded = percentDecoded(line.utf8).map { String(decoding: $0, as: UTF8.self) } ?? line
    return (decoded.unicodeScalars.contains(secret.unicodeScalars) ? decoded : line)
        .replacingScalars(secret, with: "***").replacingScalars(percentEncoded(secret.utf8), with: "***")
}
