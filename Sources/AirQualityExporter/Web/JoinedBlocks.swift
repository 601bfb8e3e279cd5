import AirQuality
import HTTPServer

/// A small page in one piece, kept as long as its blocks are the same.
///
/// A piece less to send is faster than a copy. A large page is sent from where its blocks are.
struct JoinedBlocks {
    /// Of the page that they were joined from; 0: none yet.
    private var number: UInt64 = 0
    private var isLarge = false
    /// The blocks, and behind them the end that the last scrape got.
    private var bytes: [UInt8] = []
    private var count = 0

    private static let maximumCount = 64 * 1024

    mutating func body(of page: RenderedPage) -> HTTPBody {
        if number != page.number { begin(with: page) }
        guard !isLarge else { return .blocks(page.texts) }
        // Copies the rest only while the last answer is still being sent.
        bytes.replaceSubrange(count..., with: page.end)
        return .bytes(bytes)
    }

    private mutating func begin(with page: RenderedPage) {
        number = page.number
        count = page.beginning.reduce(0) { $0 + $1.count }
        isLarge = count > Self.maximumCount
        bytes = isLarge ? [] : page.beginning.flatMap(\.self)
    }
}
