/// Ends the process, so that a fuzzer keeps the input.
public func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
    if !isTrue { fatalError(what()) }
}

/// Errors are one line for people: no control (U+0000 to U+001F, U+007F to U+009F) and no separator of lines (U+2028,
/// U+2029).
public func expectOneLine(_ text: String) {
    // The last three bytes.
    var last: UInt32 = 0
    var isOneLine = !text.isEmpty
    for byte in text.utf8 {
        last = (last << 8 | UInt32(byte)) & 0xFF_FFFF
        if byte < 0x20 || byte == 0x7F || (0xC280...0xC29F).contains(last & 0xFFFF) { isOneLine = false }
        if last == 0xE2_80A8 || last == 0xE2_80A9 { isOneLine = false }
    }
    expect(isOneLine, "not one line: \(text)")
}

/// A check of an input, which is given as bytes and as text.
public typealias Check = @Sendable (_ bytes: [UInt8], _ text: String) -> Void

/// The first byte selects the check for the others: `0` is the first one, and so on, in a cycle. New checks go to the
/// end, because the positions are part of the inputs that are kept.
public func check(_ input: [UInt8], withOneOf checks: [Check]) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    checks[Int(first &- 0x30) % checks.count](bytes, String(decoding: bytes, as: UTF8.self))
}
