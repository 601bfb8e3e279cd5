// What spans of bytes lack: more than a byte at a time, without a reference counted.

extension MutableSpan<UInt8> {
    /// Writes the bytes of a word, the least significant first, the first of them to `offset`.
    ///
    /// All of them must be within the span.
    @inlinable
    public mutating func store<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word, at offset: Int) {
        // Unsafe for elements of which not every pattern of bits is a value; storeBytes looks at the bounds.
        var bytes = unsafe mutableBytes
        bytes.storeBytes(of: word.littleEndian, toByteOffset: offset, as: Word.self)
    }

    /// Corresponds to `memmove`: the bytes may be moved over themselves.
    @inlinable
    public mutating func move(_ range: Range<Int>, by distance: Int) {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= count && range.lowerBound &+ distance >= 0
                && range.upperBound &+ distance <= count, "bytes are moved within the span")
        unsafe withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            let source = unsafe start + range.lowerBound
            unsafe (source + distance).update(from: source, count: range.count)
        }
    }
}

extension OutputSpan<UInt8> {
    /// There must be room for them.
    @inlinable
    public mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe withUnsafeMutableBufferPointer { output, count in
                precondition(bytes.count <= output.count &- count, "the bytes are more than there is room for")
                guard let source = bytes.baseAddress, let start = output.baseAddress else { return }
                unsafe (start + count).initialize(from: source, count: bytes.count)
                count &+= bytes.count
            }
        }
    }
}
