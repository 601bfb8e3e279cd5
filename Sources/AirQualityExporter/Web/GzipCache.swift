import AirQuality
import HTTPServer

/// The blocks of the page in compressed form, kept as long as the page has them.
struct GzipCache: ~Copyable {
    private var blocks: [ExpositionBlock] = []
    /// By block; none of a small page.
    private var compressed: [GzipBlock] = []
    /// A member of all of them, without its end.
    private var beginning = Gzip()

    /// The page as one gzip member, in pieces.
    mutating func member(of page: RenderedPage, with compressor: inout GzipCompressor) -> [[UInt8]] {
        if !page.blocks.elementsEqual(blocks, by: ===) { compress(page.blocks, with: &compressor) }
        return beginning.member(endingWith: compressor.block(page.end.span))
    }

    private mutating func compress(_ page: [ExpositionBlock], with compressor: inout GzipCompressor) {
        let known = Dictionary(uniqueKeysWithValues: zip(blocks.map(ObjectIdentifier.init), compressed))
        blocks = page
        if page.reduce(0, { $0 + $1.bytes.count }) <= Self.smallPageBytes {
            let bytes = page.flatMap(\.bytes)
            compressed = []
            beginning = Gzip([compressor.block(bytes.span)])
            return
        }
        compressed.removeAll(keepingCapacity: true)
        for block in page {
            let bytes = block.bytes
            compressed.append(known[ObjectIdentifier(block)] ?? compressor.block(bytes.span))
        }
        beginning = Gzip(compressed)
    }

    /// A page up to this size is compressed as a whole: that is faster, and it becomes smaller, because its families repeat
    /// each other's names.
    private static let smallPageBytes = 64 * 1024
}
