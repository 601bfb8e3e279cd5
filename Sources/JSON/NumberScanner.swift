import Glibc

/// Numbers as RFC 8259 section 6 writes them.
enum NumberScanner {
    /// Reads the number at `start`, whose memory ends with a byte that is no part of a number.
    ///
    /// - Returns: the nearest double (infinite beyond the range) and where the number ends; nil when there is none.
    @inline(__always) @unsafe
    static func scan(_ start: UnsafePointer<UInt8>) -> (value: Double, end: UnsafePointer<UInt8>)? {
        var cursor = unsafe start
        var mantissa: UInt64 = 0
        var digit = unsafe cursor.pointee &- UInt8(ascii: "0")
        while digit < 10 {
            mantissa = mantissa &* 10 &+ UInt64(digit)
            unsafe cursor += 1
            digit = unsafe cursor.pointee &- UInt8(ascii: "0")
        }
        let integerCount = unsafe cursor - start
        // A sign, no digit, a leading zero: whatever is unusual is looked at slowly.
        guard integerCount > 0, unsafe integerCount == 1 || start.pointee != UInt8(ascii: "0") else {
            return unsafe scanSlowly(start)
        }
        var decimals = 0
        if unsafe cursor.pointee == UInt8(ascii: ".") {
            unsafe cursor += 1
            let fraction = unsafe cursor
            digit = unsafe cursor.pointee &- UInt8(ascii: "0")
            while digit < 10 {
                mantissa = mantissa &* 10 &+ UInt64(digit)
                unsafe cursor += 1
                digit = unsafe cursor.pointee &- UInt8(ascii: "0")
            }
            decimals = unsafe cursor - fraction
            guard decimals > 0 else { return nil }
        }
        // Up to 19 digits fit 64 bits.
        guard integerCount &+ decimals <= 19, unsafe cursor.pointee | 0x20 != UInt8(ascii: "e") else {
            return unsafe scanSlowly(start)
        }
        return unsafe (quotient(mantissa, decimals: decimals), cursor)
    }

    /// Any number: checks the grammar, then leaves the value to the standard library's correctly rounded conversion.
    @inline(never) @unsafe
    private static func scanSlowly(_ start: UnsafePointer<UInt8>) -> (value: Double, end: UnsafePointer<UInt8>)? {
        guard let end = unsafe end(of: start) else { return nil }
        let text = unsafe UnsafeBufferPointer(start: start, count: end - start)
        // The grammar is narrower than what Double accepts. Huge numbers come as infinite, tiny ones as 0.
        guard let value = unsafe Double(String(decoding: text, as: UTF8.self)) else { return nil }
        return unsafe (value, end)
    }

    @unsafe
    private static func end(of start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>? {
        var cursor = unsafe start
        func skipDigits() -> Bool {
            let first = unsafe cursor
            while unsafe cursor.pointee &- UInt8(ascii: "0") < 10 { unsafe cursor += 1 }
            return unsafe cursor > first
        }
        if unsafe cursor.pointee == UInt8(ascii: "-") { unsafe cursor += 1 }
        if unsafe cursor.pointee == UInt8(ascii: "0") {
            unsafe cursor += 1
        } else {
            guard skipDigits() else { return nil }
        }
        if unsafe cursor.pointee == UInt8(ascii: ".") {
            unsafe cursor += 1
            guard skipDigits() else { return nil }
        }
        if unsafe cursor.pointee | 0x20 == UInt8(ascii: "e") {
            unsafe cursor += 1
            if unsafe cursor.pointee == UInt8(ascii: "+") || cursor.pointee == UInt8(ascii: "-") { unsafe cursor += 1 }
            guard skipDigits() else { return nil }
        }
        return unsafe cursor
    }
}

/// The number that `text` is, and nothing else: JSON's grammar with JSON's white space around it allowed.
public func jsonNumber(_ text: Span<UInt8>) -> Double? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count + 1)
    for index in text.indices { bytes.append(text[index]) }
    bytes.append(0)
    return unsafe bytes.withUnsafeBufferPointer { bytes in
        guard var cursor = bytes.baseAddress else { return nil }
        let end = unsafe cursor + text.count
        while unsafe isWhiteSpace(cursor.pointee) { unsafe cursor += 1 }
        guard let number = unsafe NumberScanner.scan(cursor) else { return nil }
        unsafe cursor = number.end
        while unsafe isWhiteSpace(cursor.pointee) { unsafe cursor += 1 }
        return unsafe cursor == end ? number.value : nil
    }
}

@inline(__always)
func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\t")
}
