import Bytes
import JSON

/// Describes where a message stops being valid JSON: `NaN at byte 20`, or `ends too early, at byte 512`. Bytes count
/// from 0. `nil` if every word is valid and the mistake is of another kind, such as a missing comma.
func jsonMistake(in message: Span<UInt8>) -> String? {
    let end = "ends too early, at byte \(message.count)"
    let quote = UInt8(ascii: "\"")
    var reader = JSONReader()
    var depth = 0
    var index = hasByteOrderMark(message) ? 3 : 0
    while index < message.count {
        let start = index
        let byte = message[start]
        index += 1
        if byte == quote {
            while index < message.count, message[index] != quote {
                index += message[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            if index >= message.count { return end }
            index += 1
        } else if isSeparator(byte) {
            if "{[".utf8.contains(byte) { depth += 1 }
            if "}]".utf8.contains(byte) { depth -= 1 }
        } else {
            while index < message.count, !isSeparator(message[index]), message[index] != quote { index += 1 }
            let word = message.extracting(start..<index)
            if reader.read(word) == nil { return "unexpected \(shown(word, bytes: 32)) at byte \(start)" }
        }
    }
    return depth > 0 ? end : nil
}

/// Whether the byte is a blank, or separates values or documents.
private func isSeparator(_ byte: UInt8) -> Bool { isJSONBlank(byte) || byte == 0x1E || "{}[],:".utf8.contains(byte) }
