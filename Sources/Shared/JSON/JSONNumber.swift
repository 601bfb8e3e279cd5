internal import Bytes

/// Parses a JSON number (RFC 8259 section 6), with optional white space around it, as the nearest `Double`; infinite
/// if out of range, `nil` for any other text.
public func jsonNumber(_ text: Span<UInt8>) -> Double? {
    var index = 0
    func skip(_ isWanted: (UInt8) -> Bool) -> Bool {
        guard index < text.count, isWanted(text[index]) else { return false }
        index += 1
        return true
    }
    func skip(_ character: Unicode.Scalar) -> Bool { skip { $0 == UInt8(ascii: character) } }
    func skipWhiteSpace() { while skip(isJSONBlank) {} }
    func skipDigits() -> Bool {
        let first = index
        while skip(isDigit) {}
        return index > first
    }
    skipWhiteSpace()
    let start = index
    _ = skip("-")
    guard skip("0") || skipDigits() else { return nil }
    if skip("."), !skipDigits() { return nil }
    if skip("e") || skip("E") {
        if !skip("-") { _ = skip("+") }
        guard skipDigits() else { return nil }
    }
    let number = text.extracting(start..<index)
    skipWhiteSpace()
    guard index == text.count else { return nil }
    return unsafe number.withUnsafeBufferPointer { unsafe Double(String(decoding: $0, as: UTF8.self)) }
}
