/// Quotes text on one line for an error or a log: escapes control characters, truncates to `limit` Unicode scalars.
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

/// Returns the text as a JSON string with additional escapes, which must include the characters that break a line.
package func jsonString(_ text: String, escaping isEscaped: (Unicode.Scalar) -> Bool) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n": literal += "\\n"
        case "\r": literal += "\\r"
        case "\t": literal += "\\t"
        case "\"", "\\": literal += "\\\(scalar)"
        case _ where isEscaped(scalar):
            for unit in String(scalar).utf16 { literal += "\\u" + hexadecimal(unit, digits: 4) }
        default: literal.unicodeScalars.append(scalar)
        }
    }
    return literal + "\""
}

/// Returns the text on one line, with spaces for control characters.
package func onOneLine(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: breaksLine) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { breaksLine($0) ? " " : $0 }))
}

/// Whether the scalar is a control character, which could steer a terminal, a separator that some readers treat as a
/// line end, or a mark that changes text direction.
///
/// Compares code points: Unicode's category Cc is stable, and looking it up would take most of an error's time.
package func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
}

/// Quotes the text as one word for a POSIX shell, on one line if the text is.
package func shellQuoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || "/_-.:=@%+,".utf8.contains($0) }
    return isPlain ? text : "'" + text.replacingScalars("'", with: #"'\''"#) + "'"
}
