/// The value of a label, as the formats write it: backslash, quotation mark and line feed are escaped.
public struct LabelValue: Sendable {
    let escaped: [UInt8]

    /// - Parameter bytes: UTF-8.
    public init(_ bytes: [UInt8]) { escaped = Self.needsEscapes(bytes) ? Self.escape(bytes) : bytes }

    public init(_ text: String) { self.init(Array(text.utf8)) }

    private static func needsEscapes(_ bytes: [UInt8]) -> Bool { bytes.contains(where: isEscaped) }

    private static func escape(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for byte in bytes {
            if isEscaped(byte) { text.append(UInt8(ascii: "\\")) }
            text.append(byte == UInt8(ascii: "\n") ? UInt8(ascii: "n") : byte)
        }
        return text
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
    }
}
