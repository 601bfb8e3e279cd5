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

    /// Who has sent a frame: clients mask theirs, servers do not (section 5.1).
    enum Sender {
        case client, server
    }

    static let maximumLength = 14
    static let maximumControlPayload = 125

    let opcode: Opcode
    let isFinal: Bool
    /// RSV1, which permessage-deflate puts on the first frame of a compressed message (RFC 7692, section 6).
    let isCompressed: Bool
    let payloadBytes: Int
    /// Of a client's frame, else zero.
    let mask: InlineArray<4, UInt8>

    /// How long a frame's header is that begins with these two bytes.
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
        let (first, second) = (bytes[0], bytes[1])
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

/// What a close frame says (RFC 6455, section 5.5.1).
struct CloseFrame: Equatable {
    /// Nil when the frame is empty.
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

    /// What may stand in a frame: section 7.4 and the registry that it set up.
    private static func isValid(_ status: UInt16) -> Bool {
        switch status {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// What a server's frame means, in one line for people.
    var description: String {
        guard let status else { return "closed by the server without a status" }
        return "closed by the server with status \(status)" + (reason.isEmpty ? "" : ": \(reason)")
    }
}

/// How the peer broke RFC 6455 or RFC 7692.
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
    /// - Parameter mask: of a client's frame, unpredictable (RFC 6455, section 5.3); nil in a server's.
    static func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8], mask: UInt32?) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode.rawValue]
        frame.reserveCapacity(FrameHeader.maximumLength + payload.count)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ..<126:
            frame.append(maskBit | UInt8(payload.count))
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

    /// A close frame's payload; nil = without a status.
    static func closePayload(status: UInt16?) -> [UInt8] {
        status.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []
    }

    private static func appendBigEndian(_ number: some FixedWidthInteger, to frame: inout [UInt8]) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            frame.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
