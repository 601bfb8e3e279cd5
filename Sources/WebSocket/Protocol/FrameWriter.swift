/// A client's frames: always final, always masked (RFC 6455, section 5.3).
enum FrameWriter {
    /// - Parameter mask: must be unpredictable in use.
    static func frame(_ opcode: FrameHeader.Opcode, _ payload: [UInt8], mask: UInt32) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode.rawValue]
        frame.reserveCapacity(FrameHeader.longest + payload.count)
        switch payload.count {
        case ..<126:
            frame.append(0x80 | UInt8(payload.count))
        case ..<0x10000:
            frame.append(0x80 | 126)
            appendBigEndian(UInt16(payload.count), to: &frame)
        default:
            frame.append(0x80 | 127)
            appendBigEndian(UInt64(payload.count), to: &frame)
        }
        appendBigEndian(mask, to: &frame)
        for (index, byte) in payload.enumerated() {
            frame.append(byte ^ UInt8(truncatingIfNeeded: mask >> (24 - 8 * UInt32(index & 3))))
        }
        return frame
    }

    static func closePayload(status: UInt16?) -> [UInt8] {
        status.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []
    }

    private static func appendBigEndian(_ number: some FixedWidthInteger, to frame: inout [UInt8]) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            frame.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
