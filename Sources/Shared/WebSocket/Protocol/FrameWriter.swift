/// Encodes frames to send; each is a complete message or control frame.
enum FrameWriter {
    /// - Parameter mask: unpredictable masking key of a client's frame (RFC 6455, section 5.3); `nil` for a server's.
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

    static func closePayload(status: UInt16?) -> [UInt8] {
        status.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []
    }

    private static func appendBigEndian(_ number: some FixedWidthInteger, to frame: inout [UInt8]) {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe frame.append(contentsOf: $0) }
    }
}
