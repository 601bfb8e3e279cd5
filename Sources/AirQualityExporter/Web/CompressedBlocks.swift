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
            begin(with: page)
        }
        return beginning.member(endingWith: compressor.block(page.end.span))
    }

    /// A page up to this size, which is how far back deflate can refer, is compressed as one block: that is fast, and the
    /// families repeat the names of each other.
    private static let maximumWhole = 32 * 1024

    private mutating func begin(with page: RenderedPage) {
        let count = page.texts.dropLast().reduce(0) { $0 + $1.count }
        if count <= Self.maximumWhole {
            beginWhole(page)
        } else {
            beginInBlocks(page)
        }
    }

    private mutating func beginWhole(_ page: RenderedPage) {
        blocks = [:]
        let text = page.texts.dropLast().flatMap(\.self)
        beginning = Gzip()
        beginning.append(compressor.block(text.span))
    }

    private mutating func beginInBlocks(_ page: RenderedPage) {
        var current: [UInt64: GzipBlock] = [:]
        current.reserveCapacity(page.numbers.count)
        var beginning = Gzip()
        // A little more than the last time.
        beginning.reserveCapacity(self.beginning.count + self.beginning.count / 8)
        for (number, text) in zip(page.numbers, page.texts) {
            let compressed = blocks[number] ?? compressor.block(text.span)
            current[number] = compressed
            beginning.append(compressed)
        }
        self.beginning = beginning
        blocks = current
    }
}
