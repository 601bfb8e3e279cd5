/// What the page says about the feeds, kept as long as it is the same.
struct KeptFeedLines: Sendable {
    private var lines = KeptLines()
    /// Samples in the lines. There are more when a feed has sent its first message, and never less.
    private var count = 0
    private var kept: (version: UInt64, format: ExpositionFormat, block: ExpositionBlock)?

    /// - Parameter number: the block's, if it is a new one.
    mutating func block(_ snapshot: StoreSnapshot, _ format: ExpositionFormat, number: UInt64) -> ExpositionBlock {
        if let kept, kept.version == snapshot.feedsVersion, kept.format == format { return kept.block }
        var values: [Double] = []
        values.reserveCapacity(snapshot.feeds.count * 32)
        snapshot.forEachFeedSample { _, _, value in values.append(value) }
        if count != values.count {
            lines = KeptLines()
            count = values.count
        }
        var text: [UInt8] = []
        lines.append(to: &text, format: format, value: { values[$0] }, families: { snapshot.feedFamilies })
        let block = ExpositionBlock(bytes: text, number: number)
        kept = (snapshot.feedsVersion, format, block)
        return block
    }
}
