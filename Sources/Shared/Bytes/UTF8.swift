package func isUTF8(_ bytes: Span<UInt8>) -> Bool { (try? UTF8Span(validating: bytes)) != nil }

/// Whether the text begins with U+FEFF in UTF-8, three bytes.
package func hasByteOrderMark(_ text: Span<UInt8>) -> Bool {
    text.count > 2 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF
}
