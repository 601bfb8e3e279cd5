import AirQuality
import Transport

/// Blocks of the page in compressed form, kept as long as the page has them.
struct CompressedBlocks {
    private var blocks: [UInt64: GzipBlock] = [:]
    /// The member that was made last without its end, and the number of its page; 0: none yet.
    private var beginning = Gzip()
    private var number: UInt64 = 0
    /// Under a busy feed most blocks are new at each scrape, so time counts for more than size.
    private var compressor = GzipTextCompressor()

    /// The page as one gzip member. Blocks that were in an earlier one are not compressed again.
    mutating func member(of page: RenderedPage) -> [[UInt8]] {
        if number != page.number {
            number = page.number
            begin(with: page.blocks)
        }
        return beginning.member(endingWith: compressor.block(page.end.span))
    }

    private mutating func begin(with page: [ExpositionBlock]) {
        var current: [UInt64: GzipBlock] = [:]
        current.reserveCapacity(page.count)
        var beginning = Gzip()
        beginning.reserveCapacity(self.beginning.count + self.beginning.count / 8)
        for block in page {
            let compressed = blocks[block.number] ?? compressor.block(block.bytes.span)
            current[block.number] = compressed
            beginning.append(compressed)
        }
        self.beginning = beginning
        blocks = current
    }
}
