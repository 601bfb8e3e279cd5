internal import CZlib

/// Sole owner of a zlib stream that decompresses messages (RFC 7692); takes about 60 KiB, whatever they contain.
///
/// A message can be abandoned halfway, so a decompression bomb costs no more than any other message. With context
/// takeover the rest must still be inflated, because the next message may refer to it.
@safe struct Inflater: ~Copyable {
    /// Must not move, because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Output buffer of zlib; a message grows only by what its payload inflates to.
    private let output: UnsafeMutableBufferPointer<UInt8>
    private let compression: Compression
    /// Whether the rest of the message is ignored: the sender ended the stream, or the message was abandoned.
    private var isOver = false

    init(_ compression: Compression) {
        self.compression = compression
        unsafe stream = .allocate(capacity: 1)
        unsafe output = .allocate(capacity: 16 << 10)
        unsafe stream.initialize(to: z_stream())
        let result = unsafe inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(result == Z_OK, "zlib has no memory or another version")
    }

    mutating func begin() {
        switch compression {
        case .withoutContext: unsafe inflateReset(stream)
        // After an ended stream another one may begin, which keeps the window.
        case .withContext: if isOver { unsafe inflateResetKeep(stream) }
        }
        isOver = false
    }

    /// - Parameter onOutput: called with each piece of inflated payload; returns `false` to abandon the message.
    mutating func inflate(
        _ payload: Span<UInt8>, isLast: Bool, _ onOutput: (Span<UInt8>) -> Bool
    ) throws(ProtocolViolation) {
        try inflate(payload, onOutput)
        // The sender omits these four bytes (section 7.2.1).
        let tail: InlineArray<4, UInt8> = [0x00, 0x00, 0xFF, 0xFF]
        if isLast { try inflate(tail.span, onOutput) }
    }

    private mutating func inflate(_ payload: Span<UInt8>, _ onOutput: (Span<UInt8>) -> Bool) throws(ProtocolViolation) {
        // After the sender ends a stream (BFINAL), only the empty block of section 7.2.3.4 follows.
        if isOver || payload.isEmpty { return }
        let isSound = unsafe payload.withUnsafeBufferPointer { input in
            unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(input.count)
            return drain(onOutput)
        }
        guard isSound else { throw ProtocolViolation("compressed message is damaged") }
    }

    private mutating func drain(_ onOutput: (Span<UInt8>) -> Bool) -> Bool {
        while true {
            unsafe stream.pointee.next_out = output.baseAddress
            unsafe stream.pointee.avail_out = UInt32(output.count)
            let result = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
            let left = unsafe Int(stream.pointee.avail_out)
            if unsafe left < output.count, unsafe !onOutput(output.span.extracting(first: output.count - left)),
                compression == .withoutContext
            {
                isOver = true
                return true
            }
            switch result {
            case Z_STREAM_END:
                isOver = true
                return true
            // Needs more input, as after Z_OK with room left in the output.
            case Z_BUF_ERROR: return true
            case Z_OK: if left > 0 { return true }
            default: return false
            }
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
        unsafe output.deallocate()
    }
}
