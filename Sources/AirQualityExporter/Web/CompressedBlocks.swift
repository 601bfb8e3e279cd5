import AirQuality
import HTTPServer

/// The texts of the page in compressed form, kept as long as the page has them.
struct CompressedBlocks {
    /// By their place in the page, with the number of the text.
    private var blocks: [(number: UInt64, block: GzipBlock)] = []
    /// The member that was made last without its end, and the number of its page; 0: none yet.
    private var beginning = Gzip()
    private var number: UInt64 = 0
    /// Under a busy feed most blocks are new at each scrape, so time counts for more than size.
    private var compressor = GzipTextCompressor()

    /// The page as one gzip member. Texts that were in the last one, in the same place, are not compressed again.
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
        let count = page.beginning.reduce(0) { $0 + $1.count }
        if count <= Self.maximumWhole {
            beginWhole(page)
        } else {
            beginInBlocks(page)
        }
    }

    private mutating func beginWhole(_ page: RenderedPage) {
        blocks = []
        let text = page.beginning.flatMap(\.self)
        beginning = Gzip()
        beginning.append(compressor.block(text.span))
    }

    private mutating func beginInBlocks(_ page: RenderedPage) {
        // The last answer may still be sent from where the member before is.
        let count = beginning.count
        beginning = Gzip()
        // A little more than the last time.
        beginning.reserveCapacity(count + count / 8)
        blocks.removeSubrange(min(page.numbers.count, blocks.count)...)
        for (place, (number, text)) in zip(page.numbers, page.beginning).enumerated() {
            if place == blocks.count {
                blocks.append((number, compressor.block(text.span)))
            } else if blocks[place].number != number {
                blocks[place] = (number, compressor.block(text.span))
            }
            beginning.append(blocks[place].block)
        }
    }
}
