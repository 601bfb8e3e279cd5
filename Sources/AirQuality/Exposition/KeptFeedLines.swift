/// What the page says about the feeds, kept as long as it is the same.
struct KeptFeedLines: Sendable {
    /// By whether a feed has sent a message: its time is the one sample that need not be there.
    private var lines = KeptLines<[Bool]>()
    private var kept: (version: UInt64, format: ExpositionFormat, block: ExpositionBlock)?

    mutating func block(
        _ snapshot: StoreSnapshot, _ format: ExpositionFormat, _ lastNumber: inout UInt64
    ) -> ExpositionBlock {
        if let kept, kept.version == snapshot.feedsVersion, kept.format == format { return kept.block }
        var values: [Double] = []
        values.reserveCapacity(snapshot.feeds.count * 32)
        snapshot.forEachFeedSample { _, _, value in values.append(value) }
        var text: [UInt8] = []
        lines.append(
            values, series: snapshot.feeds.map { $0.lastMessageAt != nil }, format: format, to: &text,
            families: { snapshot.feedFamilies })
        lastNumber += 1
        let block = ExpositionBlock(bytes: text, number: lastNumber)
        kept = (snapshot.feedsVersion, format, block)
        return block
    }
}
