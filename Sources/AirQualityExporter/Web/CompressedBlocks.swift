import AirQuality
import Transport

/// Blocks of the page in compressed form, kept as long as the page has them.
struct CompressedBlocks {
    private var blocks: [UInt64: GzipBlock] = [:]
    /// The member that was made last, as far as the blocks that are kept go, and their numbers.
    private var beginning = Gzip()
    private var numbers: [UInt64] = []
    /// The lowest level: under a busy feed most blocks are new at each scrape, and the text compresses well at any.
    private let compressor = GzipCompressor(level: 1)

    /// The page as one gzip member. Blocks that were in an earlier one are not compressed again.
    mutating func member(of page: [ExpositionBlock]) -> [[UInt8]] {
        // The last blocks are new each time; those before are the same as long as no reading comes.
        let kept = page.prefix { $0.number != 0 }
        if !kept.lazy.map(\.number).elementsEqual(numbers) { begin(with: kept) }
        var member = beginning
        for block in page[kept.endIndex...] { member.append(compressor.block(block.bytes.span)) }
        return member.member
    }

    private mutating func begin(with page: ArraySlice<ExpositionBlock>) {
        beginning = Gzip()
        numbers = page.map(\.number)
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
