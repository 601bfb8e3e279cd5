import Synchronization

@testable import HTTPServer
@testable import WebSocket

/// The lines of a page, compressed as scrapers get it: zlib reads what was written, whatever was compressed before, and
/// the checksum is the one of RFC 1952. It comes once as it is and once repeated.
public func checkCompression(_ input: [UInt8]) {
    compressor.withLock { compressor in
        for text in [input, (0..<(2048 / max(1, input.count) + 1)).flatMap { _ in input }] {
            let block = compressor.block(text.span)
            expect(block.length == text.count, "\(block.length) bytes of \(text.count)")
            expect(
                block.compressed.count <= text.count + 5 * (text.count / 65_535 + 1), "grew from \(text.count) bytes")
            expect(block.checksum == checksum(text), "checksum \(block.checksum) instead of \(checksum(text))")
            expect(inflated(block) == text, "something else came out of \(text)")
        }
    }
}

/// One for all inputs, as a server has: its state has 170 KB.
private let compressor = Mutex(GzipCompressor())

/// CRC-32 as RFC 1952 has it in section 8.
private func checksum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(UInt32.max) { sum, byte in table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
}

private let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(byte) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
}

private func inflated(_ block: GzipBlock) -> [UInt8]? {
    var inflater = Inflater()
    var bytes: [UInt8] = []
    let compressed = block.compressed
    let isWhole = try? inflater.inflate(compressed.span, isLast: false, into: &bytes, limit: block.length + 1)
    return isWhole == true ? bytes : nil
}
