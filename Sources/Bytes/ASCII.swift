/// Bytes of text whose grammar is ASCII: header fields, addresses, numbers, names of flags.

@inlinable
package func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
}

/// The value of a hexadecimal digit in either case.
package func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

@inlinable
package func lowercase(_ byte: UInt8) -> UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
}

/// ASCII letters of both cases are equal, as in header names and tokens.
package func equalsIgnoringCase(_ one: some Collection<UInt8>, _ other: String) -> Bool {
    one.count == other.utf8.count && zip(one, other.utf8).allSatisfy { lowercase($0) == lowercase($1) }
}

extension ArraySlice<UInt8> {
    /// The first place where these bytes are. `firstRange` is the standard library's, but it lives with the regular
    /// expressions, whose parser and engine every start of the program would pay for.
    package func range(of bytes: [UInt8]) -> Range<Int>? {
        guard count >= bytes.count else { return nil }
        return (startIndex...endIndex - bytes.count).first { self[$0...].starts(with: bytes) }
            .map { $0..<$0 + bytes.count }
    }
}

extension String {
    /// The text behind the prefix; nil when it does not begin with it.
    package func dropping(prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
