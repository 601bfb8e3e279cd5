import AirQuality
import Transport

/// The blocks of a small page in one piece, kept as long as they are the same.
///
/// A piece less to send is faster than a copy. A large page is sent from where its blocks are.
struct JoinedBlocks {
    /// Of the page that they were joined from; 0: none yet.
    private var number: UInt64 = 0
    /// nil: it is a large page.
    private var bytes: [UInt8]?

    private static let maximumCount = 64 * 1024

    mutating func body(of page: RenderedPage) -> HTTPBody {
        if number != page.number {
            number = page.number
            let count = page.blocks.reduce(0) { $0 + $1.bytes.count }
            bytes = count <= Self.maximumCount ? page.blocks.flatMap(\.bytes) : nil
        }
        guard let bytes else { return .blocks(page.blocks.map(\.bytes) + [page.end]) }
        var body: [UInt8] = []
        body.reserveCapacity(bytes.count + page.end.count)
        body += bytes
        body += page.end
        return .bytes(body)
    }
}
