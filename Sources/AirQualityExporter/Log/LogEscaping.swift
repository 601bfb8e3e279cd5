import Logging

extension [UInt8] {
    /// Appends the text as it is when it cannot be mistaken, else in quotes with escapes as in Go's source.
    mutating func appendLogfmt(_ text: String) {
        guard text.isEmpty || text.unicodeScalars.contains(where: \.needsQuotes) else {
            self += text.utf8
            return
        }
        append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": self += "\\\"".utf8
            case "\\": self += "\\\\".utf8
            case "\u{7}": self += "\\a".utf8
            case "\u{8}": self += "\\b".utf8
            case "\t": self += "\\t".utf8
            case "\n": self += "\\n".utf8
            case "\u{B}": self += "\\v".utf8
            case "\u{C}": self += "\\f".utf8
            case "\r": self += "\\r".utf8
            case _ where scalar.isPrintable: self += UTF8.encode(scalar)!
            case _ where scalar.value < 0x80: self += "\\x\(hexadecimal(scalar.value, digits: 2))".utf8
            case _ where scalar.value < 0x10000: self += "\\u\(hexadecimal(scalar.value, digits: 4))".utf8
            default: self += "\\U\(hexadecimal(scalar.value, digits: 8))".utf8
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends the text as a JSON string on one line; characters that steer a terminal are escaped as well.
    mutating func appendJSON(_ text: String) {
        append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": self += "\\\"".utf8
            case "\\": self += "\\\\".utf8
            case "\t": self += "\\t".utf8
            case "\n": self += "\\n".utf8
            case "\r": self += "\\r".utf8
            case "\u{2028}", "\u{2029}",
                _ where scalar.properties.generalCategory == .control:
                self += "\\u\(hexadecimal(scalar.value, digits: 4))".utf8
            default: self += UTF8.encode(scalar)!
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Numbers and booleans as JSON has them, lists and dictionaries with their members, all else as text.
    mutating func appendJSON(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text):
            appendJSON(text)
        case .stringConvertible(let value as Bool):
            self += (value ? "true" : "false").utf8
        case .stringConvertible(let value as any BinaryInteger & CustomStringConvertible):
            self += value.description.utf8
        case .stringConvertible(let value as Double) where value.isFinite:
            self += value.description.utf8
        case .stringConvertible(let value):
            appendJSON(value.description)
        case .array(let values):
            append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                appendJSON(value)
            }
            append(UInt8(ascii: "]"))
        case .dictionary(let members):
            append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                appendJSON(member.key)
                append(UInt8(ascii: ":"))
                appendJSON(member.value)
            }
            append(UInt8(ascii: "}"))
        }
    }
}

extension Unicode.Scalar {
    /// What would end or split a value, or cannot be seen; U+FFFD stands where bytes were not UTF-8.
    fileprivate var needsQuotes: Bool {
        self == " " || self == "=" || self == "\"" || self == "\u{FFFD}" || !isPrintable
    }

    /// As Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and of the spaces only the ASCII one.
    fileprivate var isPrintable: Bool {
        if isASCII { return value >= 0x20 && value != 0x7F }
        return switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            false
        default: true
        }
    }
}

private func hexadecimal(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}
