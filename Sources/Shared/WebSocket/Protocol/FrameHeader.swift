/// The header of a frame (RFC 6455, section 5.2).
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

    /// Clients must mask their frames, servers must not (section 5.1).
    enum Sender { case client, server }

    static let maximumLength = 14

    let opcode: Opcode
    let isFinal: Bool
    /// RSV1, which permessage-deflate sets on the first frame of a compressed message (RFC 7692, section 6).
    let isCompressed: Bool
    let payloadBytes: Int
    /// Masking key of a client's frame; zero for a server's.
    let mask: InlineArray<4, UInt8>

    static func length(secondByte: UInt8) -> Int {
        let maskBytes = secondByte & 0x80 == 0 ? 0 : 4
        return switch secondByte & 0x7F {
        case 127: 10 + maskBytes
        case 126: 4 + maskBytes
        default: 2 + maskBytes
        }
    }

    /// Parses a header of exactly `FrameHeader.length(secondByte:)` bytes.
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
        guard length <= 125 else { throw ProtocolViolation("control frame longer than 125 bytes") }
        guard isFinal else { throw ProtocolViolation("fragmented control frame") }
        guard !isCompressed else { throw ProtocolViolation("compressed control frame") }
    }
}
