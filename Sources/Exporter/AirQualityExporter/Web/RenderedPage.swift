import Compression

/// A page for one version of the store.
struct RenderedPage: Sendable {
    let version: UInt64
    /// Bytes of the page as text: the room that the next one will take.
    let textCount: Int
    /// The page with what comes after it.
    let pieces: @Sendable (_ end: [UInt8]) -> [[UInt8]]

    /// - Parameter isGzip: whether the page is kept in compressed form; the text is then not kept.
    init(version: UInt64, text: [UInt8], isGzip: Bool) {
        self.version = version
        textCount = text.count
        if isGzip {
            let gzip = Gzip(text)
            pieces = { gzip.member(endingWith: $0) }
        } else {
            pieces = { [text, $0] }
        }
    }
}
