import Glibc

/// One member of a record, as far as a reader of records needs to know it.
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
public struct JSONText: Sendable, Equatable {
    public var offset: Int
    /// Bytes of UTF-8, escapes replaced.
    public var count: Int
    /// Of the bytes, by ``ByteHash`` with the reader's seed.
    public var hash: UInt64
    /// Printable ASCII alone, one byte at least, no blank at either end.
    public var isPlain: Bool
    /// A lone surrogate stood in it (`"\ud800"`), which has no UTF-8; in the bytes it is U+FFFD.
    public var hasLoneSurrogate: Bool
}

/// Whether two runs of bytes are the same.
public func bytesEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            guard let start = left.baseAddress, let other = right.baseAddress else { return true }
            return unsafe memcmp(start, other, left.count) == 0
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
