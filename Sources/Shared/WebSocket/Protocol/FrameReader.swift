/// A peer's stream of bytes after the handshake → messages and control frames (RFC 6455, section 5).
///
/// Strict about everything but the UTF-8 of text, which is handed on as it is. A server's message that lies whole in
/// one call's bytes is handed on where it lies.
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
    ///   - compression: what was agreed on; `nil` = none.
    init(from sender: FrameHeader.Sender, maximumMessageBytes: Int, compression: Compression? = nil) {
        self.sender = sender
        self.maximumMessageBytes = maximumMessageBytes
        inflater = compression.map { Inflater($0) }
    }

    /// - Parameters:
    ///   - onMessage: a whole message, empty when it is too large.
    ///   - onControl: a control frame; it can come between the fragments of a message.
    mutating func read(
        _ bytes: Span<UInt8>, onMessage: (WebSocketMessageKind, Span<UInt8>) -> Void, onControl: (Control) -> Void
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

    private mutating func take(
        _ payload: Span<UInt8>, onMessage: (WebSocketMessageKind, Span<UInt8>) -> Void, onControl: (Control) -> Void
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
        // Taken out first, so that its memory goes when it has been handed on.
        if isLast, let whole = message.take() { onMessage(whole.kind, whole.bytes.span) }
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
        if isTooLarge { bytes = [] } else { bytes.append(contentsOf: part) }
    }

    /// When it is whole.
    var kind: WebSocketMessageKind { isTooLarge ? .tooLarge(bytes: wireBytes) : isText ? .text : .binary }
}

extension [UInt8] {
    /// One copy of memory, which `append` for each byte is not.
    mutating func append(contentsOf bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

/// The beginning of a frame (RFC 6455, section 5.2).
struct FrameHeader {
    enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    /// The sender of a frame: clients mask theirs, servers do not (section 5.1).
    enum Sender { case client, server }

    static let maximumLength = 14
    static let maximumControlPayload = 125

    let opcode: Opcode
    let isFinal: Bool
    /// RSV1, which permessage-deflate puts on the first frame of a compressed message (RFC 7692, section 6).
    let isCompressed: Bool
    let payloadBytes: Int
    /// Masking key of a client's frame, else zero.
    let mask: InlineArray<4, UInt8>

    /// Length of a frame header, from its second byte.
    static func length(secondByte: UInt8) -> Int {
        let maskBytes = secondByte & 0x80 == 0 ? 0 : 4
        return switch secondByte & 0x7F {
        case 127: 10 + maskBytes
        case 126: 4 + maskBytes
        default: 2 + maskBytes
        }
    }

    /// Reads a header of `FrameHeader.length(secondByte:)` bytes.
    init(_ bytes: Span<UInt8>, from sender: Sender) throws(ProtocolViolation) {
        let first = bytes[0]
        let second = bytes[1]
        guard let opcode = Opcode(rawValue: first & 0x0F) else {
            throw ProtocolViolation("reserved opcode \(first & 0x0F)")
        }
        guard first & 0x30 == 0 else { throw ProtocolViolation("reserved bit set in a frame") }
        let isMasked = second & 0x80 != 0
        guard isMasked == (sender == .client) else {
            throw ProtocolViolation(isMasked ? "masked frame from the server" : "frame without a mask from the client")
        }
        self.opcode = opcode
        isFinal = first & 0x80 != 0
        isCompressed = first & 0x40 != 0
        let maskStart = bytes.count - (isMasked ? 4 : 0)
        mask = isMasked ? InlineArray { bytes[maskStart + $0] } : InlineArray(repeating: 0)
        var length = Int(second & 0x7F)
        if length >= 126 {
            var long: UInt64 = 0
            for index in 2..<maskStart { long = long << 8 | UInt64(bytes[index]) }
            guard long >> 63 == 0 else { throw ProtocolViolation("frame length of 2^63 or more") }
            guard long >= (length == 126 ? 126 : 0x10000) else {
                throw ProtocolViolation("frame length not in its shortest form")
            }
            length = Int(long)
        }
        payloadBytes = length
        guard opcode.isControl else { return }
        guard length <= Self.maximumControlPayload else {
            throw ProtocolViolation("control frame longer than 125 bytes")
        }
        guard isFinal else { throw ProtocolViolation("fragmented control frame") }
        guard !isCompressed else { throw ProtocolViolation("compressed control frame") }
    }
}

/// The content of a close frame (RFC 6455, section 5.5.1).
struct CloseFrame: Equatable {
    /// Status and reason of the frame, `nil` when it is empty.
    let status: UInt16?
    let reason: String

    init(payload: [UInt8]) throws(ProtocolViolation) {
        guard payload.count != 1 else { throw ProtocolViolation("close frame of one byte") }
        guard payload.count > 1 else {
            status = nil
            reason = ""
            return
        }
        let status = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard Self.isValid(status) else { throw ProtocolViolation("invalid close status \(status)") }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw ProtocolViolation("close reason is not UTF-8", closeStatus: 1007)
        }
        self.status = status
        self.reason = reason
    }

    /// Statuses allowed in a frame: section 7.4 and the registry that it set up.
    private static func isValid(_ status: UInt16) -> Bool {
        switch status {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// A server's frame in one line for people.
    var description: String {
        guard let status else { return "closed by the server without a status" }
        return "closed by the server with status \(status)" + (reason.isEmpty ? "" : ": \(reason)")
    }
}

/// A violation of RFC 6455 or RFC 7692 by the peer.
struct ProtocolViolation: Error, Equatable, CustomStringConvertible {
    let description: String
    /// With which the connection is to be closed (RFC 6455, section 7.4.1).
    let closeStatus: UInt16

    init(_ description: String, closeStatus: UInt16 = 1002) {
        self.description = description
        self.closeStatus = closeStatus
    }
}

/// Frames of ours, always final.
enum FrameWriter {
    /// - Parameter mask: of a client's frame, unpredictable (RFC 6455, section 5.3); `nil` in a server's.
    static func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8], mask: UInt32?) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode.rawValue]
        frame.reserveCapacity(FrameHeader.maximumLength + payload.count)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ..<126: frame.append(maskBit | UInt8(payload.count))
        case ..<0x10000:
            frame.append(maskBit | 126)
            appendBigEndian(UInt16(payload.count), to: &frame)
        default:
            frame.append(maskBit | 127)
            appendBigEndian(UInt64(payload.count), to: &frame)
        }
        guard let mask else { return frame + payload }
        appendBigEndian(mask, to: &frame)
        for (index, byte) in payload.enumerated() {
            frame.append(byte ^ UInt8(truncatingIfNeeded: mask >> (24 - 8 * UInt32(index & 3))))
        }
        return frame
    }

    /// A close frame's payload; `nil` = without a status.
    static func closePayload(status: UInt16?) -> [UInt8] {
        status.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []
    }

    private static func appendBigEndian(_ number: some FixedWidthInteger, to frame: inout [UInt8]) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            frame.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
