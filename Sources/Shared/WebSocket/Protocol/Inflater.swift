internal import CZlib

/// The one owner of a zlib stream that reads compressed messages (RFC 7692): some 60 KiB, whatever they hold.
///
/// A message can be abandoned in the middle, so a decompression bomb is as cheap as any other message. With context
/// takeover the rest has to be inflated all the same, for the window of the message after it.
@safe struct Inflater: ~Copyable {
    /// zlib keeps a pointer to it, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// The buffer that zlib writes into, so that a message only ever grows by what was in the payload.
    private let output: UnsafeMutableBufferPointer<UInt8>
    private let compression: Compression
    /// The rest of the message means nothing, or nobody wants it.
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
        // Behind the end of a stream another one begins, with the window of the one before it.
        case .withContext: if isOver { unsafe inflateResetKeep(stream) }
        }
        isOver = false
    }

    /// - Parameter onOutput: called with what the payload inflates to, piece by piece; false abandons the message.
    mutating func inflate(
        _ payload: Span<UInt8>, isLast: Bool, _ onOutput: (Span<UInt8>) -> Bool
    ) throws(ProtocolViolation) {
        try inflate(payload, onOutput)
        // The sender has left these four bytes out (section 7.2.1).
        let tail: InlineArray<4, UInt8> = [0x00, 0x00, 0xFF, 0xFF]
        if isLast { try inflate(tail.span, onOutput) }
    }

    private mutating func inflate(_ payload: Span<UInt8>, _ onOutput: (Span<UInt8>) -> Bool) throws(ProtocolViolation) {
        // A stream that its sender has ended (BFINAL) has only the empty block of section 7.2.3.4 behind it.
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
            // No progress: it wants more input. Room left in the output says the same.
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
