import AirQuality
import HTTPServer

/// The blocks of the page in compressed form, kept as long as the page has them.
struct GzipCache: ~Copyable {
    /// A block without compressed form is one of a small page.
    private var blocks: [(plain: ExpositionBlock, compressed: GzipBlock?)] = []
    /// A member of all of them, without its end.
    private var beginning = Gzip()

    /// The page as one gzip member, in pieces.
    mutating func member(of page: RenderedPage, with compressor: inout GzipCompressor) -> [[UInt8]] {
        if !page.blocks.elementsEqual(blocks, by: { $0 === $1.plain }) { compress(page.blocks, with: &compressor) }
        return beginning.member(endingWith: compressor.block(page.end.span))
    }

    private mutating func compress(_ page: [ExpositionBlock], with compressor: inout GzipCompressor) {
        if page.reduce(0, { $0 + $1.bytes.count }) <= Self.smallPageBytes {
            blocks = page.map { ($0, nil) }
            let bytes = page.flatMap(\.bytes)
            beginning = Gzip([compressor.block(bytes.span)])
            return
        }
        let known = Dictionary(
            uniqueKeysWithValues: blocks.compactMap { block in
                block.compressed.map { (ObjectIdentifier(block.plain), $0) }
            })
        blocks.removeAll(keepingCapacity: true)
        for block in page {
            let bytes = block.bytes
            blocks.append((block, known[ObjectIdentifier(block)] ?? compressor.block(bytes.span)))
        }
        beginning = Gzip(blocks.compactMap(\.compressed))
    }

    /// A page up to this size is compressed as a whole: that is faster, and it becomes smaller, because its families repeat
    /// each other's names.
    private static let smallPageBytes = 64 * 1024
}
