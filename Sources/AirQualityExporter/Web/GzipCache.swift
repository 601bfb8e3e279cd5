import AirQuality
import HTTPServer

/// The blocks of the page in compressed form, kept as long as the page has them.
struct GzipCache: ~Copyable {
    private var blocks: [(plain: ExpositionBlock, compressed: GzipBlock)] = []
    /// A member of all of them, without its end.
    private var beginning = Gzip()

    /// The page as one gzip member, in pieces.
    mutating func member(of page: RenderedPage, with compressor: inout GzipCompressor) -> [[UInt8]] {
        if !page.blocks.elementsEqual(blocks, by: { $0 === $1.plain }) { compress(page.blocks, with: &compressor) }
        return beginning.member(endingWith: compressor.block(page.end.span))
    }

    private mutating func compress(_ page: [ExpositionBlock], with compressor: inout GzipCompressor) {
        let known = Dictionary(uniqueKeysWithValues: blocks.map { (ObjectIdentifier($0.plain), $0.compressed) })
        blocks.removeAll(keepingCapacity: true)
        for block in page {
            let bytes = block.bytes
            blocks.append((block, known[ObjectIdentifier(block)] ?? compressor.block(bytes.span)))
        }
        beginning = Gzip(blocks.map(\.compressed))
    }
}
