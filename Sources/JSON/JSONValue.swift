import Glibc

/// One member of a record, as far as a reader of records needs to know it.
@frozen
public enum JSONValue: Sendable, Equatable {
    case absent
    case null
    case text(JSONText)
    /// The nearest `Double`; infinite when the number is beyond its range.
    case number(Double)
    /// `true`, `false`, an array or an object.
    case other
}

/// A string of the message, by its place in what ``JSONRecordReader/withBytes(_:)`` lends.
@frozen
public struct JSONText: Sendable, Equatable {
    public var offset: Int
    /// Bytes of UTF-8, escapes replaced.
    public var count: Int
    /// Of the bytes, by ``ByteHash`` with the reader's seed.
    public var hash: UInt64
    /// No control character (C0, DEL, C1), one byte at least, no blank at either end.
    public var isPlain: Bool
    /// A lone surrogate stood in it (`"\ud800"`), which has no UTF-8; in the bytes it is U+FFFD.
    public var hasLoneSurrogate: Bool
}

/// Whether two runs of bytes are the same.
@inlinable
public func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    let count = left.count
    guard count == right.count else { return false }
    return unsafe left.withUnsafeBytes { left in
        unsafe right.withUnsafeBytes { right in
            // Names are short: a call of memcmp would cost more than the comparison.
            func words(_ offset: Int) -> Bool {
                unsafe left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            }
            guard count >= 8 else {
                for index in 0..<count where unsafe left[index] != right[index] { return false }
                return true
            }
            var offset = 0
            while offset &+ 8 <= count {
                guard words(offset) else { return false }
                offset &+= 8
            }
            // The last word overlaps the one before.
            return words(count &- 8)
        }
    }
}

/// Whether `left` sorts before `right`, byte by byte, a prefix before what it begins.
public func bytesPrecede(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    let order = unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right -> CInt in
            guard let start = left.baseAddress, let other = right.baseAddress else { return 0 }
            return unsafe memcmp(start, other, min(left.count, right.count))
        }
    }
    return order < 0 || (order == 0 && left.count < right.count)
}
