internal import CZlib

/// The one owner of a zlib stream that reads compressed messages (RFC 7692), each on its own: no context takeover.
///
/// So a message that is too large can be abandoned in the middle, which makes a decompression bomb as cheap as any
/// other message: the part beyond the limit takes neither memory nor time.
@safe struct Inflater: ~Copyable {
    /// zlib keeps a pointer to it, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// What zlib writes into, so that a message only ever grows by what was in the payload.
    private let output: UnsafeMutableBufferPointer<UInt8>
    private var isOver = false

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe output = .allocate(capacity: 16 << 10)
        unsafe stream.initialize(to: z_stream())
        let result = unsafe inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib has no memory or another version")
    }

    mutating func begin() {
        unsafe inflateReset(stream)
        isOver = false
    }

    /// Appends what the payload inflates to; false when that would be more than `limit` bytes in all.
    mutating func inflate(
        _ payload: Span<UInt8>, isLast: Bool, into message: inout [UInt8], limit: Int
    ) throws(ProtocolViolation) -> Bool {
        guard try inflate(payload, into: &message, limit: limit) else { return false }
        // The sender has left these four bytes out (section 7.2.1).
        let tail: InlineArray<4, UInt8> = [0x00, 0x00, 0xFF, 0xFF]
        return isLast ? try inflate(tail.span, into: &message, limit: limit) : true
    }

    private mutating func inflate(
        _ payload: Span<UInt8>, into message: inout [UInt8], limit: Int
    ) throws(ProtocolViolation) -> Bool {
        // A stream that its sender has ended (BFINAL) has only the empty block of section 7.2.3.4 behind it.
        if isOver || payload.isEmpty { return true }
        let result = unsafe payload.withUnsafeBufferPointer { input in
            unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            return drain(into: &message, limit: limit)
        }
        switch result {
        case .done: return true
        case .tooLarge: return false
        case .damaged: throw ProtocolViolation("compressed message is damaged")
        }
    }

    private enum Drained { case done, tooLarge, damaged }

    private mutating func drain(into message: inout [UInt8], limit: Int) -> Drained {
        while true {
            unsafe stream.pointee.next_out = output.baseAddress
            unsafe stream.pointee.avail_out = UInt32(output.count)
            let result = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
            let left = unsafe Int(stream.pointee.avail_out)
            unsafe message.append(contentsOf: output.prefix(output.count - left))
            if message.count > limit { return .tooLarge }
            switch result {
            case Z_STREAM_END:
                isOver = true
                return .done
            // No progress: it wants more input. Room left in the output says the same.
            case Z_BUF_ERROR: return .done
            case Z_OK: if left > 0 { return .done }
            default: return .damaged
            }
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
        unsafe output.deallocate()
    }
}
