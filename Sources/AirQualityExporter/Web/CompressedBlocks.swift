import AirQuality
import Transport

/// Blocks of the page in compressed form, kept as long as the page has them.
struct CompressedBlocks {
    private var blocks: [UInt64: GzipBlock] = [:]
    /// The member that was made last without its end, and the number of its page; 0: none yet.
    private var beginning = Gzip()
    private var number: UInt64 = 0
    /// The lowest level: under a busy feed most blocks are new at each scrape, and the text compresses well at any.
    private let compressor = GzipCompressor(level: 1)

    /// The page as one gzip member. Blocks that were in an earlier one are not compressed again.
    mutating func member(of page: RenderedPage) -> [[UInt8]] {
        if number != page.number {
            number = page.number
            begin(with: page.blocks)
        }
        var member = beginning
        member.append(compressor.block(page.end.span))
        return member.member
    }

    private mutating func begin(with page: [ExpositionBlock]) {
        beginning = Gzip()
        var current: [UInt64: GzipBlock] = [:]
        current.reserveCapacity(page.count)
        for block in page {
            let compressed = blocks[block.number] ?? compressor.block(block.bytes.span)
            current[block.number] = compressed
            beginning.append(compressed)
        }
        blocks = current
    }
}
