import AirQuality
import Transport

/// Blocks of the page in compressed form, kept as long as the page has them.
struct CompressedBlocks {
    private var blocks: [UInt64: GzipBlock] = [:]
    /// The lowest level: under a busy feed most blocks are new at each scrape, and the text compresses well at any.
    private let compressor = GzipCompressor(level: 1)

    /// The page as one gzip member. Blocks that were in an earlier one are not compressed again.
    mutating func member(of page: [ExpositionBlock]) -> [[UInt8]] {
        let compressed = page.map { block in
            if let known = blocks[block.number] { return known }
            let new = compressor.block(block.bytes.span)
            if block.number != 0 { blocks[block.number] = new }
            return new
        }
        // What the page has no longer is dropped now and then, not at each scrape.
        if blocks.count > 2 * page.count + 64 {
            let current = Set(page.map(\.number))
            blocks = blocks.filter { current.contains($0.key) }
        }
        return Gzip.member(of: compressed)
    }
}
