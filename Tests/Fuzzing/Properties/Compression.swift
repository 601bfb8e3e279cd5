@testable import HTTPServer
@testable import WebSocket

/// The lines of a page, compressed as scrapers get it: zlib reads what was written, after whatever was compressed
/// before, and the checksum is the one of RFC 1952. It comes once as it is and once repeated.
public func checkCompression(_ input: [UInt8]) {
    var compressor = GzipCompressor()
    let repeated = (0..<(2048 / max(1, input.count) + 1)).flatMap { _ in input }
    for text in [input, repeated, input] {
        let block = compressor.block(text.span)
        expect(block.length == text.count, "\(block.length) bytes of \(text.count)")
        expect(block.compressed.count <= text.count + 5 * (text.count / 65_535 + 1), "grew from \(text.count) bytes")
        expect(block.checksum == checksum(text), "checksum \(block.checksum) instead of \(checksum(text))")
        expect(inflated(block) == text, "something else came out of \(text)")
    }
}

/// CRC-32 bit by bit (RFC 1952, section 8).
private func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { sum, byte in
        (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
}

private func inflated(_ block: GzipBlock) -> [UInt8]? {
    var inflater = Inflater()
    var bytes: [UInt8] = []
    let compressed = block.compressed
    let isWhole = try? inflater.inflate(compressed.span, isLast: false, into: &bytes, limit: block.length + 1)
    return isWhole == true ? bytes : nil
}
