internal import Bytes

/// Decodes what a peer sends after the handshake into messages and control frames (RFC 6455, section 5). Strict,
/// except that it does not check the UTF-8 of text messages.
struct FrameReader: ~Copyable {
    enum Event: Equatable {
        /// A complete message; empty if it is too large.
        case message(WebSocketMessageKind, [UInt8])
        /// A complete message in place, at this range of the bytes: one frame, neither masked nor compressed.
        case messageInPlace(WebSocketMessageKind, Range<Int>)
        /// Like `close`, may arrive between the fragments of a message.
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
    private var isClosed = false

    init(from sender: FrameHeader.Sender, maximumMessageBytes: Int, compression: Compression? = nil) {
        self.sender = sender
        self.maximumMessageBytes = maximumMessageBytes
        inflater = compression.map { Inflater($0) }
    }

    /// Reads up to the end of the next message or control frame.
    ///
    /// - Parameter position: index of the first unread byte; advanced past the bytes that are read.
    /// - Returns: `nil` if the bytes end before that, and after a close frame: anything after it is ignored.
    mutating func next(_ bytes: Span<UInt8>, at position: inout Int) throws(ProtocolViolation) -> Event? {
        while !isClosed {
            if frame == nil { try readHeader(bytes, at: &position) }
            guard let frame else { return nil }
            if let kind = kindOfMessageInPlace(frame, within: bytes.count - position) {
                self.frame = nil
                message = nil
                position += frame.payloadBytes
                return .messageInPlace(kind, position - frame.payloadBytes..<position)
            }
            let count = min(payloadLeft, bytes.count - position)
            payloadLeft -= count
            try take(bytes.extracting(position..<position + count), of: frame)
            position += count
            guard payloadLeft == 0 else { return nil }
            self.frame = nil
            if let event = try finish(frame) { return event }
        }
        return nil
    }

    /// Reads the available bytes of a header; sets `frame` once it is complete.
    private mutating func readHeader(_ bytes: Span<UInt8>, at position: inout Int) throws(ProtocolViolation) {
        while headerCount < 2 || headerCount < FrameHeader.length(secondByte: headerBytes[1]) {
            guard position < bytes.count else { return }
            headerBytes[headerCount] = bytes[position]
            headerCount += 1
            position += 1
        }
        let header = try FrameHeader(headerBytes.span.extracting(first: headerCount), from: sender)
        headerCount = 0
        frame = header
        payloadLeft = header.payloadBytes
        if header.opcode.isControl {
            control = []
        } else {
            try begin(header)
        }
    }

    private mutating func begin(_ header: FrameHeader) throws(ProtocolViolation) {
        switch (header.opcode, message != nil) {
        case (.continuation, true):
            guard !header.isCompressed else { throw ProtocolViolation("compression bit on a continuation frame") }
        case (.continuation, false): throw ProtocolViolation("continuation frame without a message")
        case (_, true): throw ProtocolViolation("new message before the end of the previous one")
        case (_, false):
            if header.isCompressed {
                guard inflater != nil else {
                    throw ProtocolViolation("compressed frame, but compression was not negotiated")
                }
                inflater?.begin()
            }
            message = PartialMessage(isText: header.opcode == .text, isCompressed: header.isCompressed)
        }
    }

    /// - Returns: `nil` if the frame is not a complete message, or cannot be read in place.
    private func kindOfMessageInPlace(_ frame: FrameHeader, within byteCount: Int) -> WebSocketMessageKind? {
        guard sender == .server, frame.isFinal, !frame.isCompressed, payloadLeft == frame.payloadBytes,
            payloadLeft <= min(byteCount, maximumMessageBytes)
        else { return nil }
        return switch frame.opcode {
        case .text: .text
        case .binary: .binary
        case .continuation, .close, .ping, .pong: nil
        }
    }

    private mutating func take(_ masked: Span<UInt8>, of frame: FrameHeader) throws(ProtocolViolation) {
        let start = frame.payloadBytes - payloadLeft - masked.count
        let unmasked = sender == .server ? [] : masked.indices.map { masked[$0] ^ frame.mask[(start + $0) & 3] }
        let payload = sender == .server ? masked : unmasked.span
        if frame.opcode.isControl {
            control.append(payload)
        } else {
            try message?.append(
                payload, of: frame, isLast: frame.isFinal && payloadLeft == 0, limit: maximumMessageBytes,
                inflater: &inflater)
        }
    }

    private mutating func finish(_ frame: FrameHeader) throws(ProtocolViolation) -> Event? {
        switch frame.opcode {
        case .ping: return .ping(control)
        case .pong: return .pong
        case .close:
            isClosed = true
            return .close(try CloseFrame(payload: control))
        case .continuation, .text, .binary:
            guard frame.isFinal, let whole = message.take() else { return nil }
            return .message(whole.kind, whole.bytes)
        }
    }
}

private struct PartialMessage {
    let isText: Bool
    let isCompressed: Bool
    var bytes: [UInt8] = []
    var wireBytes = 0
    var isTooLarge = false

    mutating func append(
        _ payload: Span<UInt8>, of frame: FrameHeader, isLast: Bool, limit: Int, inflater: inout Inflater?
    ) throws(ProtocolViolation) {
        wireBytes = wireBytes.addingReportingOverflow(payload.count).partialValue
        guard isCompressed else {
            if bytes.isEmpty, !isTooLarge { bytes.reserveCapacity(min(frame.payloadBytes, limit)) }
            return append(payload, limit: limit)
        }
        try inflater?.inflate(payload, isLast: isLast) { inflated in
            append(inflated, limit: limit)
            return !isTooLarge
        }
    }

    private mutating func append(_ part: Span<UInt8>, limit: Int) {
        if isTooLarge { return }
        isTooLarge = part.count > limit - bytes.count
        if isTooLarge { bytes = [] } else { bytes.append(part) }
    }

    var kind: WebSocketMessageKind {
        if isTooLarge { return .tooLarge(bytes: wireBytes) }
        return isText ? .text : .binary
    }
}
