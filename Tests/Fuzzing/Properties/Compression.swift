@testable import HTTPServer
@testable import WebSocket

/// The lines of a page, compressed as scrapers get it: zlib reads what was written, after whatever was compressed
/// before. It comes once as it is and once repeated, because short text has a code of its own.
public func checkCompression(_ input: [UInt8]) {
    var compressor = GzipTextCompressor()
    let repeated = (0..<(2048 / max(1, input.count) + 1)).flatMap { _ in input }
    for text in [input, repeated, input] {
        let block = compressor.block(text.span)
        expect(block.length == text.count, "\(block.length) bytes of \(text.count)")
        expect(block.compressed.count <= text.count + text.count / 1000 + 16, "grew from \(text.count) bytes")
        let zlib = GzipCompressor().block(text.span)
        expect(block.checksum == zlib.checksum, "checksum \(block.checksum) instead of \(zlib.checksum)")
        expect(inflated(block) == text, "something else came out of \(text)")
    }
}

private func inflated(_ block: GzipBlock) -> [UInt8]? {
    var inflater = Inflater()
    var bytes: [UInt8] = []
    let compressed = Array(block.compressed)
    let isWhole = try? inflater.inflate(compressed.span, isLast: false, into: &bytes, limit: block.length + 1)
    return isWhole == true ? bytes : nil
}
