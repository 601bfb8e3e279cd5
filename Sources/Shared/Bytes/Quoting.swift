/// The text in quotation marks and on one line, for an error or a log: control characters are escaped, a very long text
/// is cut.
///
/// - Parameter limit: how many characters (Unicode scalars) are shown.
package func quoted(_ text: String, limit: Int = 200) -> String {
    var shown = "\""
    for scalar in text.unicodeScalars.prefix(limit) {
        switch scalar {
        case "\n": shown += "\\n"
        case "\r": shown += "\\r"
        case "\t": shown += "\\t"
        case "\"", "\\": shown += "\\" + String(scalar)
        case _ where breaksLine(scalar): shown += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        default: shown.unicodeScalars.append(scalar)
        }
    }
    return shown + (text.unicodeScalars.count > limit ? "…\"" : "\"")
}

/// The text on one line: control characters are blanks.
package func onOneLine(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: breaksLine) else { return text }
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { line.append(breaksLine(scalar) ? " " : scalar) }
    return String(line)
}

/// Controls, which may also steer a terminal, the two separators that some readers take for line ends, and the marks
/// that change the direction of the text behind them.
///
/// By their numbers: Unicode's category Cc is stable, and looking it up takes most of the time of an error.
package func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
}

/// The address without its user, password, query and fragment, `***` in their place, and with `…` for what may be a
/// token in its path.
///
/// Works on text that is no valid address as well: where a password may have broken the syntax (`ws://me:pa/ss@host`),
/// everything after the scheme is hidden.
///
/// The address is taken apart by its scalars: as a `Character`, `@` with a combining mark behind it is no `@`.
package func masked(address: String) -> String {
    let address = address.unicodeScalars
    let scheme = address.indices.first { address[$0...].starts(with: "://".unicodeScalars) }
    let afterScheme = scheme.map { address.index($0, offsetBy: 3) } ?? address.startIndex
    let rest = address[afterScheme...]
    let authorityEnd = rest.firstIndex { "/?#".unicodeScalars.contains($0) } ?? rest.endIndex
    let authority = rest[..<authorityEnd]
    var shown = String(address[..<afterScheme])
    if let at = authority.lastIndex(of: "@") {
        shown += "***" + String(authority[at...])
    } else if authority.contains(":"), rest[authorityEnd...].contains("@") {
        return shown + "***"
    } else {
        shown += String(authority)
    }
    let pathAndQuery = rest[authorityEnd...]
    let path = pathAndQuery.prefix { $0 != "?" && $0 != "#" }
    shown += pathWithoutTokens(String(path))
    return path.endIndex < pathAndQuery.endIndex ? shown + String(pathAndQuery[path.endIndex]) + "***" : shown
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

extension [UInt8] {
    /// Appends UTF-8 as the inside of a JSON string, escaping only what RFC 8259 section 7 demands.
    package mutating func appendJSONEscaped(_ text: Span<UInt8>) {
        let quotationMark = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        var start = 0
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == quotationMark || byte == backslash else { continue }
            append(text.extracting(start..<index))
            append(backslash)
            if byte < 0x20 { self += "u\(hexadecimal(byte, digits: 4))".utf8 } else { append(byte) }
            start = index + 1
        }
        append(text.extracting(start...))
    }

    /// Appends it in quotation marks.
    package mutating func appendJSONString(_ text: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        appendJSONEscaped(text)
        append(UInt8(ascii: "\""))
    }
}
