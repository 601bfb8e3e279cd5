/// A peer's stream of bytes after the handshake → messages and control frames (RFC 6455, section 5).
///
/// Strict about everything but the UTF-8 of text, which is handed on as it is. A server's message that lies whole in one
/// call's bytes is handed on where it lies.
struct FrameReader: ~Copyable {
    /// A control frame, whole.
    enum Control: Equatable {
        case ping([UInt8])
        case pong
        case close(CloseFrame)
    }

    private let sender: FrameHeader.Sender
    private let maximumMessageBytes: Int
    private var inflater: Inflater?
    private var headerBytes = InlineArray<14, UInt8>(repeating: 0)
    private var headerCount = 0
    private var frame: FrameHeader?
    private var payloadLeft = 0
    private var control: [UInt8] = []
    private var message: PartialMessage?
    /// Nothing that follows a close frame means anything.
    private var isClosed = false

    /// - Parameters:
    ///   - sender: the peer.
    ///   - compression: what was agreed on; nil = none.
    init(from sender: FrameHeader.Sender, maximumMessageBytes: Int, compression: Compression? = nil) {
        self.sender = sender
        self.maximumMessageBytes = maximumMessageBytes
        inflater = compression.map { Inflater($0) }
    }

    /// - Parameters:
    ///   - onMessage: a whole message, empty when it is too large.
    ///   - onControl: a control frame; it can come between the fragments of a message.
    mutating func read(
        _ bytes: Span<UInt8>,
        onMessage: (WebSocketMessageKind, Span<UInt8>) -> Void,
        onControl: (Control) -> Void
    ) throws(ProtocolViolation) {
        var position = 0
        while !isClosed {
            if frame == nil {
                guard try readHeader(bytes, at: &position) else { return }
            }
            let count = min(payloadLeft, bytes.count - position)
            let payload = bytes.extracting(position..<position + count)
            position += count
            payloadLeft -= count
            if let frame, sender == .client {
                let unmasked = unmask(payload, of: frame, at: frame.payloadBytes - payloadLeft - count)
                try take(unmasked.span, onMessage: onMessage, onControl: onControl)
            } else {
                try take(payload, onMessage: onMessage, onControl: onControl)
            }
            guard payloadLeft == 0 else { return }
            frame = nil
        }
    }

    /// False when the bytes end before the header does.
    private mutating func readHeader(_ bytes: Span<UInt8>, at position: inout Int) throws(ProtocolViolation) -> Bool {
        while headerCount < 2 || headerCount < FrameHeader.length(secondByte: headerBytes[1]) {
            guard position < bytes.count else { return false }
            headerBytes[headerCount] = bytes[position]
            headerCount += 1
            position += 1
        }
        let header = try FrameHeader(headerBytes.span.extracting(first: headerCount), from: sender)
        headerCount = 0
        frame = header
        payloadLeft = header.payloadBytes
        if header.opcode.isControl {
            control.removeAll(keepingCapacity: true)
        } else {
            try begin(header)
        }
        return true
    }

    private mutating func begin(_ header: FrameHeader) throws(ProtocolViolation) {
        switch (header.opcode, message != nil) {
        case (.continuation, true):
            guard !header.isCompressed else { throw ProtocolViolation("compression bit on a continuation frame") }
        case (.continuation, false):
            throw ProtocolViolation("continuation frame without a message")
        case (_, true):
            throw ProtocolViolation("new message before the end of the previous one")
        case (_, false):
            if header.isCompressed {
                guard inflater != nil else {
                    throw ProtocolViolation("compressed frame, but compression was not negotiated")
                }
                inflater?.begin()
            }
            message = PartialMessage(isText: header.opcode == .text, isCompressed: header.isCompressed)
        }
        message?.expect(header, limit: maximumMessageBytes)
    }

    private mutating func take(
        _ payload: Span<UInt8>,
        onMessage: (WebSocketMessageKind, Span<UInt8>) -> Void,
        onControl: (Control) -> Void
    ) throws(ProtocolViolation) {
        guard let frame else { return }
        if frame.opcode.isControl {
            for index in payload.indices { control.append(payload[index]) }
            if payloadLeft == 0 { try finishControl(frame.opcode, onControl) }
            return
        }
        let isLast = frame.isFinal && payloadLeft == 0
        if isLast, payload.count == frame.payloadBytes, frame.opcode != .continuation, !frame.isCompressed,
            payload.count <= maximumMessageBytes
        {
            message = nil
            onMessage(frame.opcode == .text ? .text : .binary, payload)
            return
        }
        try message?.append(payload, of: frame, isLast: isLast, limit: maximumMessageBytes, inflater: &inflater)
        if isLast {
            // Taken out first, so that its memory goes when it has been handed on.
            let whole = message.take()
            whole?.handOn(onMessage)
        }
    }

    private mutating func finishControl(
        _ opcode: FrameHeader.Opcode, _ onControl: (Control) -> Void
    ) throws(ProtocolViolation) {
        switch opcode {
        case .ping: onControl(.ping(control))
        case .close:
            isClosed = true
            onControl(.close(try CloseFrame(payload: control)))
        default: onControl(.pong)
        }
    }
}

/// A client's payload as it was before it was masked (section 5.3).
/// - Parameter position: of these bytes in the whole payload.
private func unmask(_ payload: Span<UInt8>, of frame: FrameHeader, at position: Int) -> [UInt8] {
    payload.indices.map { payload[$0] ^ frame.mask[(position + $0) & 3] }
}

/// A message of which more is to come, or which did not lie in one piece.
private struct PartialMessage {
    let isText: Bool
    let isCompressed: Bool
    private var bytes: [UInt8] = []
    private var wireBytes = 0
    private var isTooLarge = false

    init(isText: Bool, isCompressed: Bool) {
        self.isText = isText
        self.isCompressed = isCompressed
    }

    /// Nothing is kept of a message whose headers say that it is too large.
    mutating func expect(_ header: FrameHeader, limit: Int) {
        if !isCompressed, header.payloadBytes > limit - bytes.count { abandon() }
    }

    mutating func append(
        _ payload: Span<UInt8>, of frame: FrameHeader, isLast: Bool, limit: Int, inflater: inout Inflater?
    ) throws(ProtocolViolation) {
        wireBytes = wireBytes.addingReportingOverflow(payload.count).partialValue
        guard isCompressed else {
            if bytes.isEmpty, !isTooLarge { bytes.reserveCapacity(frame.payloadBytes) }
            return append(payload, limit: limit)
        }
        try inflater?.inflate(payload, isLast: isLast) { inflated in
            append(inflated, limit: limit)
            return !isTooLarge
        }
    }

    private mutating func append(_ part: Span<UInt8>, limit: Int) {
        if isTooLarge { return }
        if part.count <= limit - bytes.count { bytes.append(contentsOf: part) } else { abandon() }
    }

    private mutating func abandon() {
        isTooLarge = true
        bytes = []
    }

    func handOn(_ onMessage: (WebSocketMessageKind, Span<UInt8>) -> Void) {
        if isTooLarge {
            onMessage(.tooLarge(bytes: wireBytes), bytes.span)
        } else {
            onMessage(isText ? .text : .binary, bytes.span)
        }
    }
}

extension [UInt8] {
    /// One copy of memory, which `append` for each byte is not.
    mutating func append(contentsOf bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
