/// The text in quotation marks and on one line, for an error or a log: control characters are escaped, and what follows
/// `limit` Unicode scalars is cut off.
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

/// The text as a string of JSON in which some characters are escaped; those that break a line must be among them.
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

/// The text on one line: control characters are blanks.
package func onOneLine(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: breaksLine) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { breaksLine($0) ? " " : $0 }))
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
