internal import Bytes

/// The content of a message for a jq program.
public enum MessageContent: Equatable, Sendable {
    /// JSON texts at these positions: those of the replacement, if there is one; see
    /// ``replacingNonFiniteNumbers(in:)``.
    case json(Range<Int>, replacement: [UInt8]?)
    /// UTF-8 that is no JSON.
    case text
    /// Nothing, or white space.
    case blank
    case invalidUTF8
}

extension JSONReader {
    /// Reads a message of at most 1 GiB, and says what it is.
    public mutating func content(of message: Span<UInt8>) -> MessageContent {
        if let positions = read(message) { return .json(positions, replacement: nil) }
        if isBlank(message: message) { return .blank }
        guard isUTF8(message) else { return .invalidUTF8 }
        guard let replacement = replacingNonFiniteNumbers(in: message), let positions = read(replacement.span) else {
            return .text
        }
        return .json(positions, replacement: replacement)
    }
}

/// Whether the message has only white space and U+001E, after a byte order mark.
public func isBlank(message: Span<UInt8>) -> Bool {
    var index = hasByteOrderMark(message) ? 3 : 0
    while index < message.count, isJSONBlank(message[index]) || message[index] == 0x1E { index += 1 }
    return index == message.count
}

/// Replaces the words `NaN`, `Infinity` and `-Infinity`, which Python and others write for numbers that JSON does not
/// have, by `null`. Those in strings, and parts of words, stay.
///
/// - Returns: `nil` if there are none.
public func replacingNonFiniteNumbers(in message: Span<UInt8>) -> [UInt8]? {
    guard contains(message, "NaN") || contains(message, "Infinity") else { return nil }
    var replaced: [UInt8] = []
    /// Start of what is not copied yet.
    var start = 0
    var index = hasByteOrderMark(message) ? 3 : 0
    while index < message.count {
        let byte = message[index]
        if byte == UInt8(ascii: "\"") {
            index += 1
            while index < message.count, message[index] != UInt8(ascii: "\"") {
                index += message[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index += 1
        } else if isPartOfJSONWord(byte) {
            let word = index
            while index < message.count, isPartOfJSONWord(message[index]) { index += 1 }
            guard isNonFiniteNumber(message.extracting(word..<index)) else { continue }
            message.extracting(start..<word).append(to: &replaced)
            replaced += "null".utf8
            start = index
        } else {
            index += 1
        }
    }
    guard start > 0 else { return nil }
    message.extracting(start..<message.count).append(to: &replaced)
    return replaced
}

private func contains(_ message: Span<UInt8>, _ word: StaticString) -> Bool {
    let length = word.utf8CodeUnitCount
    return unsafe message.withUnsafeBytes { bytes in
        var rest = unsafe bytes[...]
        while unsafe rest.count >= length, let start = unsafe rest.firstIndex(of: word.utf8Start[0]) {
            unsafe rest = rest[start...]
            if unsafe rest.starts(with: UnsafeRawBufferPointer(start: word.utf8Start, count: length)) { return true }
            unsafe rest = rest.dropFirst()
        }
        return false
    }
}

/// Whether the byte cannot separate two words of JSON.
public func isPartOfJSONWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","),
        UInt8(ascii: ":"), UInt8(ascii: "\""), 0x1E:
        false
    default: !isJSONBlank(byte)
    }
}

/// Whether the word is one that ``replacingNonFiniteNumbers(in:)`` replaces.
public func isNonFiniteNumber(_ word: Span<UInt8>) -> Bool {
    switch word.count {
    case 3: isEqual(word, "NaN")
    case 8: isEqual(word, "Infinity")
    case 9: isEqual(word, "-Infinity")
    default: false
    }
}

private func isEqual(_ word: Span<UInt8>, _ text: StaticString) -> Bool {
    word.indices.allSatisfy { unsafe word[$0] == text.utf8Start[$0] }
}

extension Span<UInt8> {
    fileprivate func append(to bytes: inout [UInt8]) {
        unsafe withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }
}
