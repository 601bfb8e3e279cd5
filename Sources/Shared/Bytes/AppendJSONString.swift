extension [UInt8] {
    /// Appends UTF-8 as a JSON string, escaping only what RFC 8259 section 7 requires.
    package mutating func appendJSONString(_ text: Span<UInt8>) {
        let backslash = UInt8(ascii: "\\")
        append(UInt8(ascii: "\""))
        var start = 0
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == backslash else { continue }
            append(text.extracting(start..<index))
            append(backslash)
            if byte < 0x20 { self += "u\(hexadecimal(byte, digits: 4))".utf8 } else { append(byte) }
            start = index + 1
        }
        append(text.extracting(start...))
        append(UInt8(ascii: "\""))
    }
}
