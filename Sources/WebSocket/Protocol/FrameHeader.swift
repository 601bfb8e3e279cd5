/// The beginning of a frame (RFC 6455, section 5.2).
struct FrameHeader: Equatable {
    enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    static let longest = 14
    static let longestControlPayload = 125

    let opcode: Opcode
    let isFinal: Bool
    /// RSV1, which permessage-deflate puts on the first frame of a compressed message (RFC 7692, section 6).
    let isCompressed: Bool
    let payloadBytes: Int

    /// How long a server's frame header is that begins with these two bytes; servers do not mask.
    static func length(secondByte: UInt8) -> Int {
        switch secondByte & 0x7F {
        case 127: 10
        case 126: 4
        default: 2
        }
    }

    /// Reads a server's header of `FrameHeader.length(secondByte:)` bytes.
    init(_ bytes: Span<UInt8>) throws(ProtocolViolation) {
        let (first, second) = (bytes[0], bytes[1])
        guard let opcode = Opcode(rawValue: first & 0x0F) else {
            throw ProtocolViolation("reserved opcode \(first & 0x0F)")
        }
        guard first & 0x30 == 0 else { throw ProtocolViolation("reserved bit set in a frame") }
        guard second & 0x80 == 0 else { throw ProtocolViolation("masked frame from the server") }
        self.opcode = opcode
        isFinal = first & 0x80 != 0
        isCompressed = first & 0x40 != 0
        var length = Int(second & 0x7F)
        if length >= 126 {
            let extended = bytes.extracting(droppingFirst: 2)
            var long: UInt64 = 0
            for index in extended.indices { long = long << 8 | UInt64(extended[index]) }
            guard long >> 63 == 0 else { throw ProtocolViolation("frame length of 2^63 or more") }
            guard long >= (length == 126 ? 126 : 0x10000) else {
                throw ProtocolViolation("frame length not in its shortest form")
            }
            length = Int(long)
        }
        payloadBytes = length
        guard opcode.isControl else { return }
        guard length <= Self.longestControlPayload else {
            throw ProtocolViolation("control frame longer than 125 bytes")
        }
        guard isFinal else { throw ProtocolViolation("fragmented control frame") }
        guard !isCompressed else { throw ProtocolViolation("compressed control frame") }
    }
}

/// How the peer broke RFC 6455 or RFC 7692.
struct ProtocolViolation: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
