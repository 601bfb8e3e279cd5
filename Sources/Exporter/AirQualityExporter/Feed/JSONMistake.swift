import Bytes
import JSON

/// Describes where a message stops being valid JSON: `not UTF-8 at byte 37`, `unexpected NaN at byte 20`, or
/// `ends too early, at byte 512`. Bytes count from 0. `nil` if every word is valid and the mistake is of another kind,
/// such as a missing comma. Reads the first 64 KiB.
func jsonMistake(in message: Span<UInt8>) -> String? {
    if let position = firstInvalidByte(in: message) { return "not UTF-8 at byte \(position)" }
    let maximum = 64 << 10
    let text = message.extracting(first: maximum)
    let end = message.count > maximum ? nil : "ends too early, at byte \(message.count)"
    let quote = UInt8(ascii: "\"")
    var depth = 0
    var index = hasByteOrderMark(text) ? 3 : 0
    while index < text.count {
        let start = index
        let byte = text[start]
        index += 1
        if byte == quote {
            while index < text.count, text[index] != quote { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
            if index >= text.count { return end }
            index += 1
        } else if !isPartOfJSONWord(byte) {
            if "{[".utf8.contains(byte) { depth += 1 }
            if "}]".utf8.contains(byte) { depth -= 1 }
        } else {
            while index < text.count, isPartOfJSONWord(text[index]) { index += 1 }
            let word = text.extracting(start..<index)
            if !isJSONWord(word) { return "unexpected \(shown(word, bytes: 32)) at byte \(start)" }
        }
    }
    return depth > 0 ? end : nil
}

/// Whether the word is a number that a reader accepts, `true`, `false` or `null`.
private func isJSONWord(_ word: Span<UInt8>) -> Bool {
    if ["true", "false", "null"].contains(where: { bytesEqual($0.utf8Span.span, word) }) { return true }
    // Counts as null.
    if isNonFiniteNumber(word) { return true }
    // JSONReader rejects integers beyond 64 bits, and what no double can hold.
    let isInteger = word.indices.allSatisfy { isDigit(word[$0]) || word[$0] == UInt8(ascii: "-") }
    guard let number = jsonNumber(word), number.isFinite else { return false }
    return !isInteger || (number >= -0x1p63 && number < 0x1p64)
}

private func firstInvalidByte(in text: Span<UInt8>) -> Int? {
    do throws(UTF8.ValidationError) {
        _ = try UTF8Span(validating: text)
        return nil
    } catch {
        return error.byteOffsets.lowerBound
    }
}
